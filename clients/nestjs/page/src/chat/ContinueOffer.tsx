import { useSignal } from "@preact/signals";
import { Button, ErrorNote } from "../core/components/index.js";
import type { Conversation } from "./conversation.js";
import { focusQuestion } from "./focus-question.js";

interface ContinueOfferProps {
  /** Whether there is no room left, or nearly none. */
  isFull: boolean;
  conversation: Conversation;
}

/** The way on from a conversation that is full: a new one with its items, its matter and its last answers. */
export function ContinueOffer({ isFull, conversation }: ContinueOfferProps) {
  const isBusy = useSignal(false);
  const failure = useSignal<unknown>(undefined);
  const goOn = async (): Promise<void> => {
    isBusy.value = true;
    failure.value = undefined;
    try {
      await conversation.goOn();
      focusQuestion();
    } catch (error) {
      failure.value = error;
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <div class="continue-offer">
      <p>
        {isFull ? "A new conversation" : "This conversation is nearly full. A new one"} takes its rules and tools, its
        matter and its last answers along.
      </p>
      <Button
        small
        {...(isFull ? { look: "primary" as const } : {})}
        disabled={isBusy.value || conversation.running.value !== undefined}
        onClick={() => void goOn()}
      >
        Continue in a new conversation
      </Button>
      {failure.value !== undefined && <ErrorNote error={failure.value} />}
    </div>
  );
}
