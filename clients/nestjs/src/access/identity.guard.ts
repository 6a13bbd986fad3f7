import { readFile } from "node:fs/promises";
import { Inject, Injectable, SetMetadata } from "@nestjs/common";
import type { CanActivate, ExecutionContext } from "@nestjs/common";
import { Reflector } from "@nestjs/core";
import type { Request } from "express";
import type { Identified, Identity } from "../contract/caller.js";
import { Refusal } from "../http/refusal.js";
import { SETTINGS } from "../settings.module.js";
import type { ActingSettings, Settings } from "../settings.js";
import { BrowserSessions } from "./browser-sessions.js";
import type { Session } from "./browser-sessions.js";
import { Provider } from "./provider.js";

const OPEN = "proviso:open";
const BEARER = /^Bearer +(\S+)$/i;
/** What an id may be that metadata can carry; its length is the service's to limit. */
const USER_ID = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** Marks what asks nothing of the service as anybody: health, and sign-in itself. */
export const Open = (): ClassDecorator & MethodDecorator => SetMetadata(OPEN, true);

/**
 * Finds out who asks, ahead of every handler, and what the service is told of it: what the caller shows, the token of the
 * person who has signed in, or, where the gateway has a key of its own, that key and the person's id.
 */
@Injectable()
export class IdentityGuard implements CanActivate {
  constructor(
    @Inject(Reflector) private readonly reflector: Reflector,
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(BrowserSessions) private readonly sessions: BrowserSessions,
    @Inject(Provider) private readonly provider: Provider,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.getAllAndOverride<boolean>(OPEN, [context.getHandler(), context.getClass()])) return true;
    const request = context.switchToHttp().getRequest<Request & Partial<Identified>>();
    const { acting } = this.settings;
    request.identity = acting ? await this.actedFor(request, acting) : await this.passedOn(request);
    return true;
  }

  /** The credential of whoever asks, as it is. The service makes of it what it will. */
  private async passedOn(request: Request): Promise<Identity> {
    const shown = request.get("authorization");
    const userId = request.get("x-user-id");
    if (shown !== undefined) return { authorization: shown, userId };
    const session = await this.session(request);
    if (session) return { authorization: `Bearer ${session.accessToken}`, userId };
    // Without a credential the service would take the call for one of the gateway's certificate, or for anybody's.
    if (this.settings.signIn || this.settings.clientCertificate) throw notSignedIn();
    return { authorization: undefined, userId };
  }

  /** The gateway's own credential, and the person whom the provider has named. Nothing else names one. */
  private async actedFor(request: Request, acting: ActingSettings): Promise<Identity> {
    const shown = request.get("authorization");
    const subject = shown === undefined ? (await this.session(request))?.subject : await this.subjectOf(shown, acting);
    if (subject === undefined || !USER_ID.test(subject)) throw notSignedIn();
    for (const named of [request.get("x-user-id"), request.query.user_id, userIn(request.body)])
      if (named !== undefined && named !== "" && named !== subject)
        throw new Refusal(403, "Who asks is told by the token alone: leave user_id and X-User-Id out.");
    return { authorization: `Bearer ${(await readFile(acting.keyFile, "utf8")).trim()}`, userId: subject };
  }

  private async session(request: Request): Promise<Session | undefined> {
    const { signIn } = this.settings;
    return signIn && (await this.sessions.find(signIn, request));
  }

  private async subjectOf(shown: string, acting: ActingSettings): Promise<string> {
    const token = BEARER.exec(shown)?.[1];
    if (token === undefined) throw notSignedIn();
    return this.provider.subjectOf(token, acting);
  }
}

function notSignedIn(): Refusal {
  return new Refusal(401, "You are not signed in.");
}

function userIn(body: unknown): unknown {
  return typeof body === "object" && body !== null ? (body as { user_id?: unknown }).user_id : undefined;
}
