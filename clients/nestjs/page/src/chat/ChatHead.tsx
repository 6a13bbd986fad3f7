import { Button } from "../core/components/index.js";
import { useNavigation } from "../core/navigation.js";
import { useConversation } from "./opened-conversation.js";

/** What questions are about, and the way to the session's items. */
export function ChatHead() {
  const navigation = useNavigation();
  const { session } = useConversation();
  const matter = navigation.selectedMatter.value;
  const document = navigation.selectedDocument.value;
  return (
    <header class="chat-head">
      <p class="chat-about">
        {matter ? (
          <>
            <span class="chat-about-label">About</span> <strong>{matter.name || "the selected matter"}</strong>
            {document && <> / {document.name || "the selected document"}</>}
          </>
        ) : (
          <span class="chat-about-label">No matter selected</span>
        )}
      </p>
      {session.value && (
        <Button
          small
          look="quiet"
          onClick={() => {
            navigation.openSide({ kind: "session" });
          }}
        >
          Rules and tools
        </Button>
      )}
    </header>
  );
}
