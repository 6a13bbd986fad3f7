/** Ends that are remembered: those of the newest turns. */
const MOST = 10_000;

/**
 * Final states that browsers were told, by turn and sequence. That of a turn whose service died is in no log: it stands
 * behind whatever its browser had, so only who told it knows that this sequence is the end.
 */
export class ToldEnds {
  private readonly ends = new Set<string>();

  constructor(private readonly most = MOST) {}

  add(turnId: string, sequence: number): void {
    this.ends.add(nameOf(turnId, sequence));
    if (this.ends.size <= this.most) return;
    const [oldest = ""] = this.ends;
    this.ends.delete(oldest);
  }

  has(turnId: string, sequence: number): boolean {
    return this.ends.has(nameOf(turnId, sequence));
  }
}

function nameOf(turnId: string, sequence: number): string {
  return `${sequence} ${turnId}`;
}
