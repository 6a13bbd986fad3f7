import { Subject, firstValueFrom, lastValueFrom, share, takeUntil } from "rxjs";
import type { Partially } from "../../src/index.js";
import type { ChatRequest } from "../../src/stubs/proviso/v1/chat.js";
import type { Assistant } from "./nest.js";

/** A turn that has a reader. */
export interface Running {
  turnId: string;
  /** Stops reading, without a word to the service. */
  leave(): void;
  /** Stops reading and cancels the turn. */
  end(): Promise<void>;
}

/** Asks, and returns when the first event is there. */
export async function begun(assistant: Assistant, request: Partially<ChatRequest>): Promise<Running> {
  const stop = new Subject<void>();
  const shared = assistant.ask(request).pipe(takeUntil(stop), share());
  const ended = lastValueFrom(shared, { defaultValue: undefined });
  const { turnId } = await Promise.race([firstValueFrom(shared), ended.then(notRunning)]);
  const leave = (): void => {
    stop.next();
  };
  const end = async (): Promise<void> => {
    leave();
    await ended;
    await firstValueFrom(assistant.chat.cancelTurn({ turnId }));
  };
  return { turnId, leave, end };
}

function notRunning(): never {
  throw new Error("the turn has ended");
}
