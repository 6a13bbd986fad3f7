import { render } from "preact";
import type { ComponentChildren } from "preact";
import { ConversationContext, OpenedConversation } from "../../src/chat/opened-conversation.js";
import { PendingQuestions } from "../../src/chat/pending-questions.js";
import { SessionList } from "../../src/chat/session-list.js";
import { Navigation, NavigationContext } from "../../src/core/navigation.js";

/** Draws the parts in a page of their own. */
export function draw(parts: ComponentChildren): { root: HTMLElement; conversation: OpenedConversation } {
  const root = document.body.appendChild(document.createElement("div"));
  const navigation = new Navigation(window);
  const conversation = new OpenedConversation(navigation, new SessionList(), new PendingQuestions(sessionStorage));
  render(
    <NavigationContext.Provider value={navigation}>
      <ConversationContext.Provider value={conversation}>{parts}</ConversationContext.Provider>
    </NavigationContext.Provider>,
    root,
  );
  return { root, conversation };
}
