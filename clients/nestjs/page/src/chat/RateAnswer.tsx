import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { ApiError } from "../core/api.js";
import { Button, ErrorNote, Icon } from "../core/components/index.js";
import type { GivenRating, RatingReason } from "../core/contract.js";

const UP =
  "M2.5 7.5h2v5.5h-2zM4.5 7.5L7.5 2.5c1 0 1.6.6 1.4 1.7L8.5 6.5h4c.9 0 1.3.7 1.1 1.5l-1 4c-.2.6-.6 1-1.2 1H4.5";
const DOWN = "M2.5 3h2v5.5h-2zM4.5 8.5l3 5c1 0 1.6-.6 1.4-1.7L8.5 9.5h4c.9 0 1.3-.7 1.1-1.5l-1-4c-.2-.6-.6-1-1.2-1H4.5";

const REASONS: Readonly<Record<RatingReason, string>> = {
  RATING_REASON_UNSPECIFIED: "No reason",
  RATING_REASON_INCORRECT: "It is wrong",
  RATING_REASON_INCOMPLETE: "Something is missing",
  RATING_REASON_WRONG_SOURCE: "The source is not right",
  RATING_REASON_UNCLEAR: "It is hard to understand",
  RATING_REASON_OFF_TOPIC: "It answers another question",
  RATING_REASON_TOO_SLOW: "It took too long",
  RATING_REASON_OTHER: "Something else",
};

/** The contract's limit. */
const MOST_CHARACTERS = 2000;

interface RateAnswerProps {
  rating: GivenRating["rating"] | undefined;
  /** Throws ApiError. */
  onRate: (rating: GivenRating) => Promise<void>;
}

/** Thumbs for an answer; the pressed one takes its rating back. A thumb down asks why, which may be left open. */
export function RateAnswer({ rating, onRate }: RateAnswerProps) {
  const asksWhy = useSignal(false);
  const failure = useSignal<ApiError | undefined>(undefined);
  const down = useRef<HTMLSpanElement>(null);
  const rate = async (given: GivenRating): Promise<void> => {
    failure.value = undefined;
    try {
      await onRate(given);
      asksWhy.value = given.rating === "RATING_DOWN" && given.reason === undefined;
    } catch (error) {
      failure.value = ApiError.from(error);
    }
  };
  const thumb = (own: GivenRating["rating"], label: string, path: string) => (
    <Button
      small
      look="quiet"
      aria-label={label}
      title={label}
      aria-pressed={rating === own}
      onClick={() => void rate({ rating: rating === own ? "RATING_UNSPECIFIED" : own })}
    >
      <Icon path={path} />
    </Button>
  );
  const close = (): void => {
    asksWhy.value = false;
    down.current?.querySelector<HTMLElement>("button:last-child")?.focus();
  };
  return (
    <>
      <span class="thumbs" role="group" aria-label="Rate this answer" ref={down}>
        {thumb("RATING_UP", "Good answer", UP)}
        {thumb("RATING_DOWN", "Poor answer", DOWN)}
      </span>
      {failure.value && <ErrorNote error={failure.value} />}
      {asksWhy.value && (
        <Why
          onSend={async (reason, text) => {
            await rate({ rating: "RATING_DOWN", reason, text });
            if (!failure.peek()) close();
          }}
          onClose={close}
        />
      )}
    </>
  );
}

interface WhyProps {
  onSend: (reason: RatingReason, text: string) => Promise<void>;
  onClose: () => void;
}

/** What was wrong with an answer. */
function Why({ onSend, onClose }: WhyProps) {
  const id = useId();
  const first = useRef<HTMLSelectElement>(null);
  const reason = useSignal<RatingReason>("RATING_REASON_UNSPECIFIED");
  const text = useSignal("");
  useEffect(() => first.current?.focus(), []);
  return (
    <form
      class="rating-why"
      onSubmit={(event) => {
        event.preventDefault();
        void onSend(reason.peek(), text.peek().trim());
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
      }}
    >
      <label for={`${id}-reason`}>What was wrong?</label>
      <select
        id={`${id}-reason`}
        ref={first}
        class="field"
        value={reason.value}
        onChange={(event) => (reason.value = event.currentTarget.value as RatingReason)}
      >
        {Object.entries(REASONS).map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
      <label for={`${id}-text`}>In your words</label>
      <textarea
        id={`${id}-text`}
        class="field"
        rows={2}
        maxLength={MOST_CHARACTERS}
        value={text.value}
        onInput={(event) => (text.value = event.currentTarget.value)}
      />
      <div class="row">
        <Button look="primary" small type="submit">
          Send
        </Button>
        <Button look="quiet" small onClick={onClose}>
          Not now
        </Button>
      </div>
    </form>
  );
}
