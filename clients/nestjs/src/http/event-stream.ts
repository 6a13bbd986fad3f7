import type { Response } from "express";

/** An event as Server-Sent Events have it. `id` is what a browser resumes from. */
export interface ServerSentEvent {
  event: string;
  data: object;
  id?: number;
}

/** Time limits of an event stream, in milliseconds. */
export interface StreamLimits {
  /** Silence after which a comment is written, for the proxies on the way. */
  keepAliveMs: number;
  /** A browser that takes nothing for so long is cut off; it may come back and resume. */
  stallMs: number;
}

/**
 * Writes Server-Sent Events. Who writes looks at `full` after each event and goes on when `onRoom` tells: all that is held
 * here is what the response's own buffer takes.
 */
export class EventStream {
  /** Resolves when the response has ended or its browser has gone. */
  readonly closed: Promise<void>;
  private keepAlive: NodeJS.Timeout | undefined;
  private stall: NodeJS.Timeout | undefined;

  constructor(
    private readonly response: Response,
    private readonly limits: StreamLimits,
  ) {
    this.closed = new Promise((resolve) => {
      if (response.destroyed) resolve();
      response.once("close", resolve);
    });
    this.waitForSilence();
  }

  /** Whether the headers have gone out. */
  get begun(): boolean {
    return this.response.headersSent;
  }

  /** Whether the browser has to take something before more is written. */
  get full(): boolean {
    return this.response.writableNeedDrain;
  }

  /** Calls back whenever a full response has room again. */
  onRoom(tell: () => void): void {
    this.response.on("drain", () => {
      this.stopStall();
      tell();
    });
  }

  /** Sends the status and the headers. */
  begin(headers: Readonly<Record<string, string>> = {}): void {
    this.response.status(200).set({
      "Content-Type": "text/event-stream; charset=utf-8",
      "Cache-Control": "no-cache, no-transform",
      "X-Accel-Buffering": "no",
      ...headers,
    });
    this.response.flushHeaders();
  }

  send({ id, event, data }: ServerSentEvent): void {
    const head = id === undefined ? "" : `id: ${id}\n`;
    this.write(`${head}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Ends the response. What the browser has not taken yet stays for as long as it may take nothing, and no longer. */
  end(): void {
    clearTimeout(this.keepAlive);
    this.limitStall();
    this.response.end();
  }

  /** Lets go of the response: nothing is written any more. */
  release(): void {
    clearTimeout(this.keepAlive);
    this.stopStall();
  }

  private write(text: string): void {
    this.response.write(text);
    this.waitForSilence();
    if (this.full) this.limitStall();
  }

  private waitForSilence(): void {
    clearTimeout(this.keepAlive);
    this.keepAlive = setTimeout(() => {
      this.comment();
    }, this.limits.keepAliveMs);
  }

  private comment(): void {
    if (!this.begun) this.begin();
    if (this.full) this.waitForSilence();
    else this.write(":\n\n");
  }

  private limitStall(): void {
    this.stall ??= setTimeout(() => this.response.destroy(), this.limits.stallMs);
  }

  private stopStall(): void {
    clearTimeout(this.stall);
    this.stall = undefined;
  }
}
