import { createHash, randomBytes } from "node:crypto";
import { Inject, Injectable, Logger } from "@nestjs/common";
import type { Request, Response } from "express";
import { ResponseBodyError } from "openid-client";
import { Refusal } from "../http/refusal.js";
import { SETTINGS } from "../settings.module.js";
import type { Settings, SignInSettings } from "../settings.js";
import { SafeCookie } from "./cookies.js";
import { Provider, wordsOf } from "./provider.js";
import type { TokenAnswer } from "./provider.js";

/** More sessions end the oldest ones. */
export const MOST_SESSIONS = 10_000;
/** A session ends so long after its sign-in, whatever the provider says. */
const LASTS_MS = 12 * 3_600_000;
/** A token is replaced so long before its end, or at half of its life where that is shorter. */
const EARLY_MS = 30_000;
/** Of a token whose provider does not say how long it lasts, in seconds. */
const UNKNOWN_S = 300;
/** A provider that did not answer is asked again after this time, while the token lasts. */
const RETRY_MS = 5_000;

/** A person who has signed in. */
export interface Session {
  readonly subject: string;
  readonly name: string;
  readonly accessToken: string;
}

interface Held extends Session {
  accessToken: string;
  refreshToken: string | undefined;
  /** When the access token has to be replaced, and when it ends, in milliseconds since 1970. */
  replacedAt: number;
  accessEnd: number;
  readonly end: number;
  /** One refresh at a time: a provider that rotates refresh tokens takes a second one for a theft. */
  refreshing: Promise<void> | undefined;
}

/**
 * The sessions of browsers, with their tokens: both stay in the gateway's memory, and a browser has nothing but a random
 * id. Kept is its hash, so that nothing that shows this memory opens a session.
 */
@Injectable()
export class BrowserSessions {
  private readonly logger = new Logger("BrowserSessions");
  private readonly held = new Map<string, Held>();
  private readonly cookie: SafeCookie | undefined;

  constructor(
    @Inject(Provider) private readonly provider: Provider,
    @Inject(SETTINGS) { signIn }: Settings,
  ) {
    // No page needs it but the gateway's own: it is not sent with what other sites ask for, or lead to.
    this.cookie = signIn && new SafeCookie(signIn, "proviso", "strict");
  }

  /** Begins a session and gives its id to the browser, in the place of one that it has. */
  begin(request: Request, response: Response, tokens: TokenAnswer): void {
    void this.end(request);
    const claims = tokens.claims();
    const id = randomBytes(32).toString("base64url");
    this.held.set(hashOf(id), {
      subject: claims?.sub ?? "",
      name: [claims?.name, claims?.preferred_username, claims?.email].find(isName) ?? claims?.sub ?? "",
      end: Date.now() + LASTS_MS,
      refreshing: undefined,
      ...lastingOf(tokens),
    });
    const oldest = this.held.keys().next();
    if (this.held.size > MOST_SESSIONS && !oldest.done) this.held.delete(oldest.value);
    this.cookie?.set(response, id);
  }

  /**
   * The session of a browser, with an access token that still lasts; undefined when there is none or it has ended. Throws a
   * Refusal while the token has ended and the provider cannot be asked for another.
   */
  async find(signIn: SignInSettings, request: Request): Promise<Session | undefined> {
    const key = this.keyOf(request);
    const held = this.held.get(key);
    if (held === undefined) return undefined;
    if (Date.now() >= held.replacedAt && Date.now() < held.end) {
      held.refreshing ??= this.refresh(signIn, held).finally(() => {
        held.refreshing = undefined;
      });
      await held.refreshing;
    }
    if (Date.now() < Math.min(held.accessEnd, held.end)) return held;
    this.held.delete(key);
    return undefined;
  }

  /** Ends the session of a browser, and what the provider has let it do. The browser may keep an id that opens nothing. */
  async end(request: Request): Promise<void> {
    const key = this.keyOf(request);
    const held = this.held.get(key);
    this.held.delete(key);
    await held?.refreshing?.catch(() => undefined);
    if (held?.refreshToken === undefined) return;
    await this.provider.revoke(held.refreshToken).catch((error: unknown) => {
      this.logger.warn(`A refresh token was not revoked: ${wordsOf(error)}`);
    });
  }

  private keyOf(request: Request): string {
    return hashOf(this.cookie?.of(request) ?? "");
  }

  /** Replaces the tokens, and ends the session where the provider refuses that. Throws a Refusal; see `find`. */
  private async refresh(signIn: SignInSettings, held: Held): Promise<void> {
    if (held.refreshToken === undefined) return;
    try {
      const tokens = await this.provider.refreshed(signIn, held.refreshToken);
      const isSame = (tokens.claims()?.sub ?? held.subject) === held.subject;
      Object.assign(held, isSame ? lastingOf(tokens, held.refreshToken) : ENDED);
    } catch (error) {
      this.logger.warn(`Tokens were not refreshed: ${wordsOf(error)}`);
      if (error instanceof ResponseBodyError && error.error === "invalid_grant") Object.assign(held, ENDED);
      else if (Date.now() >= held.accessEnd)
        throw new Refusal(503, "The identity provider cannot be reached. Try again.");
      else held.replacedAt = Math.min(Date.now() + RETRY_MS, held.accessEnd);
    }
  }
}

const ENDED = { refreshToken: undefined, accessEnd: 0 };

type Lasting = Pick<Held, "accessToken" | "refreshToken" | "replacedAt" | "accessEnd">;

/** What a session has of tokens that have just come. A refresh token that is not replaced stays. */
function lastingOf(tokens: TokenAnswer, refreshToken?: string): Lasting {
  const now = Date.now();
  const lastsMs = (tokens.expiresIn() ?? UNKNOWN_S) * 1000;
  return {
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token ?? refreshToken,
    replacedAt: now + lastsMs - Math.min(EARLY_MS, lastsMs / 2),
    accessEnd: now + lastsMs,
  };
}

function hashOf(id: string): string {
  return createHash("sha256").update(id).digest("base64url");
}

function isName(claim: unknown): claim is string {
  return typeof claim === "string" && claim.trim() !== "";
}
