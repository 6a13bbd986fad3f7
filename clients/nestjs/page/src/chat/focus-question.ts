/** The id of the box to ask in. */
export const QUESTION_ID = "question";

/** Puts the focus into the box to ask in: where it goes when what had it is gone. */
export function focusQuestion(): void {
  document.getElementById(QUESTION_ID)?.focus();
}
