import { createSecretKey, randomBytes } from "node:crypto";
import { Controller, Get, HttpCode, Inject, Logger, Post, Query, Req, Res } from "@nestjs/common";
import { ApiExcludeEndpoint, ApiTags } from "@nestjs/swagger";
import type { Request, Response } from "express";
import { EncryptJWT, jwtDecrypt } from "jose";
import { randomNonce, randomPKCECodeVerifier, randomState } from "openid-client";
import { z } from "zod";
import type { Json } from "../contract/json.js";
import { Refusal } from "../http/refusal.js";
import { Answers, Does } from "../openapi/decorators.js";
import { SETTINGS } from "../settings.module.js";
import type { Settings, SignInSettings } from "../settings.js";
import { BrowserSessions } from "./browser-sessions.js";
import { SafeCookie } from "./cookies.js";
import { Open } from "./identity.guard.js";
import { Provider, wordsOf } from "./provider.js";

const LASTS_MS = 10 * 60_000;

/** A place in the page, and nothing else: what follows the #. */
const SignInQuery = z.looseObject({
  return_to: z
    .string()
    .max(1_000)
    .regex(/^#[\x21-\x7e]*$/, "must begin with #")
    .default("#/"),
});
type SignInQuery = z.infer<typeof SignInQuery>;

/** A sign-in that is under way, as its browser keeps it, sealed. */
const UnderWay = z.object({ state: z.string(), nonce: z.string(), codeVerifier: z.string(), returnTo: z.string() });
type UnderWay = z.infer<typeof UnderWay>;

/** Signing in and out, for browsers. The provider's tokens stay here; the browser has an id of its session. */
@Open()
@ApiTags("Access")
@Controller()
export class SignInController {
  private readonly logger = new Logger("SignIn");
  private readonly key = createSecretKey(randomBytes(32));

  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(Provider) private readonly provider: Provider,
    @Inject(BrowserSessions) private readonly sessions: BrowserSessions,
  ) {}

  @Get("sign-in")
  @ApiExcludeEndpoint()
  async begin(@Query({ schema: SignInQuery }) query: SignInQuery, @Res() response: Response): Promise<void> {
    const signIn = this.signIn();
    const checks = { state: randomState(), nonce: randomNonce(), codeVerifier: randomPKCECodeVerifier() };
    const url = await this.provider.signInUrl(signIn, checks);
    underWayOf(signIn).set(response, await this.sealed({ ...checks, returnTo: query.return_to }), LASTS_MS);
    response.redirect(303, url.href);
  }

  @Get("sign-in/callback")
  @ApiExcludeEndpoint()
  async complete(@Req() request: Request, @Res() response: Response): Promise<void> {
    const signIn = this.signIn();
    const cookie = underWayOf(signIn);
    const sealed = cookie.of(request);
    cookie.clear(response);
    try {
      const { returnTo, ...checks } = await this.unsealed(sealed ?? "");
      const tokens = await this.provider.signedIn(
        signIn,
        new URL(request.originalUrl, signIn.publicUrl).search,
        checks,
      );
      this.sessions.begin(request, response, tokens);
      response.redirect(303, `/${returnTo}`);
    } catch (error) {
      // What is wrong with it is of use to the operator alone; the person can only try again.
      this.logger.warn(`A sign-in has failed: ${wordsOf(error)}`);
      response.redirect(303, "/?sign_in=failed");
    }
  }

  @Post("sign-out")
  @HttpCode(200)
  @Does("Ends the session of a browser, and says where it ends that with the provider.")
  @Answers("SignedOut")
  async end(@Req() request: Request): Promise<Json> {
    const signIn = this.signIn();
    await this.sessions.end(request);
    const url = await this.provider.signOutUrl(signIn).catch(() => undefined);
    return url ? { end_session_url: url.href } : {};
  }

  @Get("account")
  @Does("Says whether people sign in here, and who has done so in this browser.")
  @Answers("Account")
  async account(@Req() request: Request): Promise<Json> {
    const { signIn } = this.settings;
    if (!signIn) return { sign_in: false, signed_in: false };
    const session = await this.sessions.find(signIn, request);
    return { sign_in: true, signed_in: session !== undefined, ...(session && { name: session.name }) };
  }

  private signIn(): SignInSettings {
    if (this.settings.signIn) return this.settings.signIn;
    throw new Refusal(404, "This gateway has no sign-in.");
  }

  private sealed(underWay: UnderWay): Promise<string> {
    const end = Math.floor((Date.now() + LASTS_MS) / 1000);
    return new EncryptJWT(underWay)
      .setProtectedHeader({ alg: "dir", enc: "A256GCM" })
      .setExpirationTime(end)
      .encrypt(this.key);
  }

  private async unsealed(text: string): Promise<UnderWay> {
    const { payload } = await jwtDecrypt(text, this.key, {
      keyManagementAlgorithms: ["dir"],
      contentEncryptionAlgorithms: ["A256GCM"],
    });
    return UnderWay.parse(payload);
  }
}

/** It has to come along when the provider leads the browser back. */
function underWayOf(signIn: SignInSettings): SafeCookie {
  return new SafeCookie(signIn, "proviso-sign-in", "lax");
}
