import { Inject, Injectable, Logger } from "@nestjs/common";
import type { BeforeApplicationShutdown } from "@nestjs/common";
import { ProvisoError } from "@proviso/client";
import type { Response } from "express";
import { tap } from "rxjs";
import type { Observable, Subscription } from "rxjs";
import { Gate } from "../contract/gate.js";
import type { Settings } from "../settings.js";
import { SETTINGS } from "../settings.module.js";
import { EventStream } from "./event-stream.js";
import type { ServerSentEvent } from "./event-stream.js";
import { problemOf } from "./problem.js";

/** What an event stream is made of. */
export interface Streamed<Item> {
  /** Makes the calls, all of them through the gate. Subscribed to once; unsubscribed from when the browser has gone. */
  items: (gate: Gate) => Observable<Item>;
  event: (item: Item) => ServerSentEvent;
  /** Headers that the first item tells. */
  headers?: (first: Item) => Headers;
}

type Headers = Readonly<Record<string, string>>;

/** The responses that are event streams, each for as long as its browser is there. */
@Injectable()
export class EventStreams implements BeforeApplicationShutdown {
  private readonly logger = new Logger("EventStreams");
  private readonly answers = new Set<{ end(): void }>();

  constructor(@Inject(SETTINGS) private readonly settings: Settings) {}

  /**
   * Answers with Server-Sent Events, at the pace of the browser. Resolves when the response has ended; rejects with what
   * failed before the first item, for then the response is still to be made.
   */
  async answer<Item>(response: Response, streamed: Streamed<Item>): Promise<void> {
    // A browser that has gone meanwhile begins nothing.
    if (response.destroyed) return;
    const problem = (error: unknown): object => this.problem(error, response.req.path);
    const answer = new Answer(new EventStream(response, this.settings), streamed, problem);
    this.answers.add(answer);
    try {
      await answer.run();
    } finally {
      this.answers.delete(answer);
    }
  }

  /** Ends every response: their browsers resume when a gateway is there again. */
  beforeApplicationShutdown(): void {
    for (const answer of this.answers) answer.end();
  }

  private problem(error: unknown, path: string): object {
    const problem = problemOf(error, path);
    if (problem.status === 500) this.logger.error(error);
    return problem;
  }
}

/** One response: its calls are read as fast as its browser reads it. */
class Answer<Item> {
  private readonly gate = new Gate();
  private reading: Subscription | undefined;

  constructor(
    private readonly stream: EventStream,
    private readonly streamed: Streamed<Item>,
    private readonly problem: (error: unknown) => object,
  ) {}

  async run(): Promise<void> {
    const failed = new Promise<never>((_, reject) => {
      this.stream.onRoom(() => {
        this.gate.reopen();
      });
      const { items, event, headers } = this.streamed;
      // Sent inside of the pipe: what fails in it is the stream's failure, and not the process's.
      const sent = items(this.gate).pipe(
        tap((item) => {
          this.send(event(item), headers?.(item));
        }),
      );
      this.reading = sent.subscribe({
        error: (error: unknown) => {
          if (this.stream.begun) this.fail(error);
          else reject(ProvisoError.from(error));
        },
        complete: () => {
          this.end();
        },
      });
    });
    try {
      await Promise.race([this.stream.closed, failed]);
    } finally {
      this.reading?.unsubscribe();
      this.stream.release();
    }
  }

  end(): void {
    if (!this.stream.begun) this.stream.begin();
    this.stream.end();
    this.reading?.unsubscribe();
  }

  private send(event: ServerSentEvent, headers: Headers | undefined): void {
    if (!this.stream.begun) this.stream.begin(headers);
    this.stream.send(event);
    if (this.stream.full) this.gate.shut();
  }

  private fail(error: unknown): void {
    // A credential that has ended meanwhile fails only this connection: the browser comes back with the one of the moment.
    const hasEnded = ProvisoError.from(error).status === "UNAUTHENTICATED";
    if (!hasEnded) this.stream.send({ event: "error", data: this.problem(error) });
    this.end();
  }
}
