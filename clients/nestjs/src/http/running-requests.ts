import { Injectable } from "@nestjs/common";
import type { BeforeApplicationShutdown } from "@nestjs/common";
import type { NextFunction, Request, Response } from "express";
import { Refusal } from "./refusal.js";

/** What runs when the gateway is stopped has so long to end; then its connections are closed. */
const DRAIN_MS = 10_000;

/** The requests that are being answered. Who stops the gateway waits for them, and begins no others. */
@Injectable()
export class RunningRequests implements BeforeApplicationShutdown {
  private readonly responses = new Set<Response>();
  private stopping = false;
  private allEnded: () => void = () => undefined;

  /** The middleware that counts them. */
  count(_request: Request, response: Response, next: NextFunction): void {
    if (this.stopping) {
      next(new Refusal(503, "The gateway is stopping. Try again in a moment."));
      return;
    }
    this.responses.add(response);
    response.once("close", () => {
      this.responses.delete(response);
      if (this.responses.size === 0) this.allEnded();
    });
    next();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    if (this.responses.size === 0) return;
    await new Promise<void>((resolve) => {
      const limit = setTimeout(resolve, DRAIN_MS);
      this.allEnded = () => {
        clearTimeout(limit);
        resolve();
      };
    });
  }
}
