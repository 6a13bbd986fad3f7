/** The text of an answer as it grows: the tokens that have not been discarded, in order. */
export class AnswerText {
  private readonly texts = new Map<string, string>();

  /** The undiscarded text so far. */
  get text(): string {
    if (this.texts.size > 1) return [...this.texts.values()].join("");
    for (const text of this.texts.values()) return text;
    return "";
  }

  /** Adds tokens to a text; an id not seen before begins a new one. */
  add(textId: string, tokens: string): void {
    this.texts.set(textId, (this.texts.get(textId) ?? "") + tokens);
  }

  /** Voids all tokens of a text. */
  discard(textId: string): void {
    this.texts.delete(textId);
  }
}
