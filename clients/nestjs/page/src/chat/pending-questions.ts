/**
 * Questions that wait for an answer: the service stores a question with its answer, so until then a page that is loaded
 * anew, or goes on in another session, has it from here. One a session.
 */
export class PendingQuestions {
  constructor(private readonly storage: Pick<Storage, "getItem" | "setItem" | "removeItem">) {}

  keep(sessionId: string, question: string): void {
    try {
      this.storage.setItem(nameOf(sessionId), question);
    } catch {
      // A full storage costs no more than the question's words after a reload.
    }
  }

  /** Empty where it is not known. */
  read(sessionId: string): string {
    return this.storage.getItem(nameOf(sessionId)) ?? "";
  }

  forget(sessionId: string): void {
    this.storage.removeItem(nameOf(sessionId));
  }
}

function nameOf(sessionId: string): string {
  return `proviso.question.${sessionId}`;
}
