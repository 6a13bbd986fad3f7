import { render } from "preact";
import type { ComponentChildren } from "preact";
import { act } from "preact/test-utils";
import type { Conversation } from "../../src/chat/conversation.js";
import { ConversationContext, OpenedConversation } from "../../src/chat/opened-conversation.js";
import { PendingQuestions } from "../../src/chat/pending-questions.js";
import { SessionList } from "../../src/chat/session-list.js";
import { Navigation, NavigationContext } from "../../src/core/navigation.js";

type Parts = ComponentChildren | ((conversation: Conversation) => ComponentChildren);

/** Draws the parts in a page of their own; those that need the page's conversation are given it. */
export function draw(parts: Parts): { root: HTMLElement; conversation: OpenedConversation; navigation: Navigation } {
  const root = document.body.appendChild(document.createElement("div"));
  const navigation = new Navigation(window);
  const conversation = new OpenedConversation(navigation, new SessionList(), new PendingQuestions(sessionStorage));
  render(
    <NavigationContext.Provider value={navigation}>
      <ConversationContext.Provider value={conversation}>
        {typeof parts === "function" ? parts(conversation.current.peek()) : parts}
      </ConversationContext.Provider>
    </NavigationContext.Provider>,
    root,
  );
  return { root, conversation, navigation };
}

/** Draws the parts and waits until what they ask the gateway for is there. */
export async function drawAll(parts: Parts): Promise<ReturnType<typeof draw>> {
  let drawn: ReturnType<typeof draw> | undefined;
  await act(() => {
    drawn = draw(parts);
  });
  await settled();
  if (!drawn) throw new Error("nothing was drawn");
  return drawn;
}

/** Clicks on a button by its words, or its label, and waits until what follows from it is there. */
export async function click(root: HTMLElement, words: string): Promise<void> {
  const found = Array.from(root.querySelectorAll("button")).find(
    (button) => (button.getAttribute("aria-label") ?? button.textContent.trim()) === words,
  );
  if (!found) throw new Error(`There is no button ${words}`);
  await act(() => {
    found.click();
  });
  await settled();
}

/** The words of the buttons, in their order. */
export function buttons(root: HTMLElement): string[] {
  return Array.from(root.querySelectorAll("button"), (button) => button.textContent.trim());
}

async function settled(): Promise<void> {
  await act(() => new Promise((resolve) => setTimeout(resolve)));
}
