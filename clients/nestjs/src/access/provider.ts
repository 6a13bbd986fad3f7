import { Inject, Injectable, Logger } from "@nestjs/common";
import { createRemoteJWKSet, errors, jwtVerify } from "jose";
import * as oidc from "openid-client";
import { Refusal } from "../http/refusal.js";
import { SETTINGS } from "../settings.module.js";
import type { ActingSettings, Settings, SignInSettings } from "../settings.js";

/** The algorithms that the service takes too. */
const ALGORITHMS = ["RS256", "ES256", "EdDSA"];
const TIMEOUT_S = 10;
/** As the service does: keys are read again after this time, and for an unknown key at most every so often. */
const KEYS_FRESH_MS = 300_000;
const KEYS_RETRY_MS = 10_000;
/** How far the clocks of provider and gateway may differ, as for the service. */
const LEEWAY_S = 30;

/** What the provider answers with tokens. */
export type TokenAnswer = oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers;

/** What a sign-in has to come back with. */
export interface Checks {
  state: string;
  nonce: string;
  codeVerifier: string;
}

/** The provider of OpenID Connect, as its own description has it; asked for that when it is first needed. */
@Injectable()
export class Provider {
  private readonly logger = new Logger("Provider");
  private found: Promise<oidc.Configuration> | undefined;
  private keys: ReturnType<typeof createRemoteJWKSet> | undefined;

  constructor(@Inject(SETTINGS) private readonly settings: Settings) {}

  /** Where a browser is sent to sign in: authorization code flow with PKCE. */
  async signInUrl(signIn: SignInSettings, { state, nonce, codeVerifier }: Checks): Promise<URL> {
    return oidc.buildAuthorizationUrl(await this.configuration(), {
      redirect_uri: callbackOf(signIn).href,
      scope: signIn.scope,
      state,
      nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: "S256",
      ...resourceOf(signIn),
    });
  }

  /** Exchanges the code that a browser has come back with. Throws where state, nonce, issuer or ID token are not right. */
  async signedIn(signIn: SignInSettings, query: string, { state, nonce, codeVerifier }: Checks): Promise<TokenAnswer> {
    const url = callbackOf(signIn);
    url.search = query;
    const checks = {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: codeVerifier,
      idTokenExpected: true,
    };
    return oidc.authorizationCodeGrant(await this.configuration(), url, checks, resourceOf(signIn));
  }

  async refreshed(signIn: SignInSettings, refreshToken: string): Promise<TokenAnswer> {
    return oidc.refreshTokenGrant(await this.configuration(), refreshToken, resourceOf(signIn));
  }

  /** Gives a refresh token up, where the provider has a way for that. */
  async revoke(refreshToken: string): Promise<void> {
    const configuration = await this.configuration();
    if (configuration.serverMetadata().revocation_endpoint === undefined) return;
    await oidc.tokenRevocation(configuration, refreshToken, { token_type_hint: "refresh_token" });
  }

  /**
   * Where a browser ends its session with the provider; undefined where the provider has no such place. No ID token is
   * named, for it would stand in the browser's history: the provider asks the person instead.
   */
  async signOutUrl({ publicUrl }: SignInSettings): Promise<URL | undefined> {
    const configuration = await this.configuration();
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
    return oidc.buildEndSessionUrl(configuration, { post_logout_redirect_uri: publicUrl.href });
  }

  /** The subject of a person's token. Throws a Refusal where the token is not valid, or cannot be checked. */
  async subjectOf(token: string, { audience }: ActingSettings): Promise<string> {
    const { issuer, jwks_uri: address } = (await this.configuration()).serverMetadata();
    if (address === undefined) throw away();
    this.keys ??= createRemoteJWKSet(new URL(address), { cacheMaxAge: KEYS_FRESH_MS, cooldownDuration: KEYS_RETRY_MS });
    const rules = {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      clockTolerance: LEEWAY_S,
      requiredClaims: ["exp", "sub"],
    };
    try {
      return (await jwtVerify(token, this.keys, rules)).payload.sub ?? "";
    } catch (error) {
      if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout))
        throw new Refusal(401, "The token is not valid for this gateway.");
      this.logger.warn(`The keys of the provider cannot be read: ${wordsOf(error)}`);
      throw away();
    }
  }

  /** Throws a Refusal while the provider cannot be reached. */
  private async configuration(): Promise<oidc.Configuration> {
    this.found ??= this.discover().catch((error: unknown) => {
      this.found = undefined;
      throw error;
    });
    return this.found;
  }

  private async discover(): Promise<oidc.Configuration> {
    const { signIn, acting } = this.settings;
    const issuer = signIn?.issuer ?? acting?.issuer;
    if (issuer === undefined) throw new Refusal(404, "This gateway has no sign-in.");
    // The settings let this be on this machine alone.
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so that it is noticed
    const clear = issuer.protocol === "http:" ? [oidc.allowInsecureRequests] : [];
    const execute = [oidc.enableNonRepudiationChecks, ...clear];
    // Without sign-in it is only the provider's keys that are looked for: no client is named anywhere.
    const clientId = signIn?.clientId ?? "none";
    const authentication =
      signIn?.clientSecret === undefined ? oidc.None() : oidc.ClientSecretPost(signIn.clientSecret);
    try {
      return await oidc.discovery(issuer, clientId, {}, authentication, { execute, timeout: TIMEOUT_S });
    } catch (error) {
      this.logger.warn(`The provider ${issuer.href} cannot be used: ${wordsOf(error)}`);
      throw away();
    }
  }
}

/** The words of an error, and of what caused it, for the log: those of the protocol, never a token. */
export function wordsOf(error: unknown): string {
  if (error instanceof oidc.ResponseBodyError) return error.error;
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

function callbackOf({ publicUrl }: SignInSettings): URL {
  return new URL("/sign-in/callback", publicUrl);
}

function resourceOf({ resource }: SignInSettings): { resource?: string } {
  return resource === undefined ? {} : { resource };
}

function away(): Refusal {
  return new Refusal(503, "The identity provider cannot be reached at the moment. Try again in a while.");
}
