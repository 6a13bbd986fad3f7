import { InterceptingCall } from "@grpc/grpc-js";
import type { Interceptor } from "@grpc/grpc-js";

/**
 * Holds the messages of a streaming call while their reader has no room for them.
 *
 * An Observable of NestJS's client cannot be paused. grpc-js asks the connection for a message when the one before it has
 * been taken, so with one held back the rest waits in the service, which joins tokens for slow readers.
 */
export class Gate {
  private held: (() => void)[] = [];
  private open = true;

  readonly interceptor: Interceptor = (options, nextCall) =>
    new InterceptingCall(nextCall(options), {
      start: (metadata, _listener, next) => {
        next(metadata, {
          onReceiveMessage: (message, pass) => {
            if (this.open) pass(message);
            else this.held.push(pass.bind(undefined, message));
          },
        });
      },
    });

  /** Lets no message through, after the one that is being passed. */
  shut(): void {
    this.open = false;
  }

  /** Lets messages through again, the held ones first. */
  reopen(): void {
    this.open = true;
    const passing = this.held;
    this.held = [];
    for (const pass of passing) pass();
  }
}
