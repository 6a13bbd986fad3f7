import { InterceptingCall, Metadata } from "@grpc/grpc-js";
import type { Interceptor } from "@grpc/grpc-js";

const MATTER = "proviso-matter";

/** A request that may name a matter: itself, in the context of a message, or as the matter that it changes. */
interface AboutMatter {
  matterId?: string | undefined;
  matterContext?: { matterId?: string | undefined } | undefined;
  matter?: { matterId?: string | undefined } | undefined;
}

/**
 * Metadata that names the matter of a request, on top of others: a proxy may send all calls about a matter to one replica.
 * An id that metadata cannot hold is left to the service, which refuses the request.
 */
export function matterMetadata(request: object, metadata = new Metadata()): Metadata {
  const { matterId, matterContext, matter }: AboutMatter = request;
  const named = [matterId, matterContext?.matterId, matter?.matterId].find(Boolean) ?? "";
  const all = metadata.clone();
  if (/^[\x21-\x7e]+$/.test(named)) all.set(MATTER, named);
  return all;
}

/** Names the matter of each call that has one request. An upload begins before it is known what it is about. */
export const namingMatter: Interceptor = (options, nextCall) => {
  const call = nextCall(options);
  if (options.method_definition.requestStream) return new InterceptingCall(call);
  let begin: ((request: object) => void) | undefined;
  return new InterceptingCall(call, {
    start: (metadata, listener, next) => {
      begin = (request) => {
        next(matterMetadata(request, metadata), listener);
      };
    },
    sendMessage: (request: object, next) => {
      begin?.(request);
      next(request);
    },
  });
};
