import { useEffect, useRef } from "preact/hooks";
import { Button } from "../core/components/index.js";
import type { MatterContext } from "../core/contract.js";
import { useNavigation } from "../core/navigation.js";
import type { Navigation } from "../core/navigation.js";
import type { Conversation } from "./conversation.js";
import { QUESTION_ID } from "./focus-question.js";

/** Characters of a question, as the contract has it. */
const MOST_CHARACTERS = 32_000;

/** The box to ask in: Enter asks, Shift and Enter begin a new line. */
export function Composer({ conversation }: { conversation: Conversation }) {
  const navigation = useNavigation();
  const box = useRef<HTMLTextAreaElement>(null);
  const text = conversation.draft.value;
  const isFree = conversation.running.value === undefined && !conversation.isLoading.value;
  const canAsk = isFree && text.trim() !== "";
  useEffect(() => {
    if (box.current) fitHeight(box.current);
  }, [text]);
  const ask = (): void => {
    if (!canAsk) return;
    conversation.draft.value = "";
    void conversation.ask(text, selectedContext(navigation));
    box.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    ask();
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        ask();
      }}
    >
      {conversation.notice.value !== "" && (
        <p class="composer-notice" role="status">
          {conversation.notice.value}
        </p>
      )}
      <div class="composer-box">
        <label class="visually-hidden" for={QUESTION_ID}>
          Your question
        </label>
        <textarea
          id={QUESTION_ID}
          ref={box}
          rows={1}
          maxLength={MOST_CHARACTERS}
          placeholder={placeholder(navigation)}
          value={text}
          onInput={(event) => (conversation.draft.value = event.currentTarget.value)}
          onKeyDown={onKeyDown}
          aria-describedby="question-hint"
        />
        <Button type="submit" look="primary" disabled={!canAsk}>
          Ask
        </Button>
      </div>
      <p class="composer-hint" id="question-hint">
        Enter asks, Shift + Enter begins a new line
      </p>
    </form>
  );
}

function placeholder(navigation: Navigation): string {
  const document = navigation.selectedDocument.value;
  if (document?.name) return `Ask about ${document.name}`;
  const matter = navigation.selectedMatter.value;
  return matter?.name ? `Ask about ${matter.name}` : "Ask a question";
}

/** What the person looks at, for the question to be about. */
function selectedContext(navigation: Navigation): MatterContext | undefined {
  const matter = navigation.selectedMatter.peek();
  if (!matter) return undefined;
  const document = navigation.selectedDocument.peek();
  return {
    matter_id: matter.matterId,
    matter_name: matter.name,
    document_id: document?.documentId ?? "",
    document_name: document?.name ?? "",
  };
}

function fitHeight(box: HTMLTextAreaElement): void {
  box.style.height = "auto";
  box.style.height = `${Math.min(box.scrollHeight, 240)}px`;
}
