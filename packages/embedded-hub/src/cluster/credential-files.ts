import type { Logger } from '@berth/runtime/logger';
import { ExternalCertificates, ClientCaFile } from '../auth/certificates/external-certificates.ts';
import { type TokenOptions, readTokenKeys } from '../auth/tokens/service-account-tokens.ts';
import { TokenAuthFile } from '../auth/tokens/token-auth-file.ts';
import type { ExternalCredentials } from './api-cluster.ts';

/** Files with credentials that the hub accepts in addition to its own. */
export interface CredentialFiles {
  /** PEM; client certificates of these authorities are accepted. Read again when it changes. */
  readonly clientCa?: string | undefined;
  /** PEM; keys with which others sign ServiceAccount tokens. */
  readonly tokenKeys?: readonly string[] | undefined;
  /** Issuers that such tokens may name besides the hub's own. */
  readonly tokenIssuers?: readonly string[] | undefined;
  /** CSV: token, user, uid, groups. */
  readonly tokens?: string | undefined;
}

/** @throws InputError when a file cannot be used */
export function readCredentialFiles(
  { clientCa, tokenKeys = [], tokenIssuers = [], tokens }: CredentialFiles,
  log: Logger,
): ExternalCredentials & { readonly signers: Pick<TokenOptions, 'keys' | 'issuers'> } {
  return {
    certificates:
      clientCa === undefined ? undefined : new ExternalCertificates(new ClientCaFile(clientCa, log)),
    tokens: tokens === undefined ? undefined : new TokenAuthFile(tokens),
    signers: { keys: readTokenKeys(tokenKeys), issuers: tokenIssuers },
  };
}
