/**
 * The sentences that are complete, for reading out while an answer is being written: at the end the rest is one too.
 * A sentence ends in a mark followed by white space, or with its line.
 */
export function completeSentences(text: string, hasEnded: boolean): string[] {
  const pieces = text.split(/(?<=[.!?…:][”"')\]]*(?:\s\[\d+\])*)\s+(?=[\p{Lu}\p{N}“"•-])|\n+/u);
  const complete = hasEnded ? pieces : pieces.slice(0, -1);
  return complete.map((piece) => piece.trim()).filter((piece) => piece !== "");
}
