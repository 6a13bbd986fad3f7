import { useConversation } from "./opened-conversation.js";
import { ChatHead } from "./ChatHead.js";
import { Composer } from "./Composer.js";
import { MessageList } from "./MessageList.js";

/** The conversation: its questions and answers, and the box to ask in. */
export function Chat() {
  const conversation = useConversation();
  return (
    <div class="chat" key={conversation.sessionId}>
      <ChatHead />
      <MessageList conversation={conversation} />
      <Composer conversation={conversation} />
    </div>
  );
}
