import type { Metadata } from "@grpc/grpc-js";
import type { Observable } from "rxjs";

/** A request of which fields may be left out. */
export type Partially<T> = T extends Uint8Array
  ? T
  : T extends (infer Item)[]
    ? Partially<Item>[]
    : T extends object
      ? { [K in keyof T]?: Partially<T[K]> }
      : T;

/**
 * A client's interface of the stubs with requests of which fields may be left out:
 * `grpc.getService<Client<ChatServiceClient>>(CHAT_SERVICE_NAME)`.
 */
export type Client<Stub> = {
  [Method in keyof Stub]: Stub[Method] extends (request: infer Request, metadata?: Metadata) => infer Response
    ? Request extends Observable<infer Piece>
      ? (requests: Observable<Partially<Piece>>, metadata?: Metadata) => Response
      : (request: Partially<Request>, metadata?: Metadata) => Response
    : never;
};
