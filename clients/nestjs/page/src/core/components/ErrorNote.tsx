import { ApiError } from "../api.js";
import { Button } from "./Button.js";

interface ErrorNoteProps {
  /** A sentence, or what a call threw. */
  error: unknown;
  onRetry?: (() => void) | undefined;
}

/** Tells a failure where it happened; read out at once. */
export function ErrorNote({ error, onRetry }: ErrorNoteProps) {
  const text = typeof error === "string" ? error : ApiError.from(error).message;
  return (
    <div class="error-note" role="alert">
      <p>{text}</p>
      {onRetry && (
        <Button small onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
