import { createHash } from 'node:crypto';
import { z } from 'zod';
import { configProblem, parseConfig } from '../../src/adapters/yaml/parse-config.ts';
import { InputError } from '@berth/runtime/errors';
import { isPlaceholder, type NameRestriction, TOKEN_SCOPES, type TokenGrant } from './token-grant.ts';

/** A token that is easy to guess protects nothing. */
const MIN_TOKEN_LENGTH = 16;
const MAKE_ONE = 'create one with: openssl rand -hex 32';

export interface TokenEntry {
  /** SHA-256 of the token. */
  readonly digest: Buffer;
  /** Only if the file contains the token itself. */
  readonly token: string | undefined;
  readonly grant: TokenGrant;
  /** From a plain file with one token in each line, without bindings. */
  readonly isPlain: boolean;
  /** The value of a shipped manifest, which is never accepted. */
  readonly isPlaceholder: boolean;
}

/**
 * Reads a token file in one of two forms. Plain: one token per line, `#` starts a comment; each
 * token has all rights. Declared: YAML or JSON with a list `tokens`, each with a name, its SHA-256
 * (or the token itself), and its bindings.
 * @throws InputError with line and column, never with a token in its text
 */
export function parseTokenFile(file: string, text: string): readonly TokenEntry[] {
  return isDeclared(text) ? declaredTokens(file, text) : plainTokens(file, text);
}

function isDeclared(text: string): boolean {
  const first = text.split('\n').find((line) => !/^\s*(#.*)?$/.test(line)) ?? '';
  return /^\s*(\{|---|%YAML|"?tokens"?\s*:)/.test(first);
}

function plainTokens(file: string, text: string): readonly TokenEntry[] {
  const wrong = (problem: string, line = 1): InputError =>
    new InputError(problem, {
      code: 'plugin.token',
      subject: 'Token file',
      hint: MAKE_ONE,
      location: { file, line, column: 1 },
    });
  const lines = text
    .split('\n')
    .map((line, index) => ({ token: line.trim(), line: index + 1 }))
    .filter(({ token }) => token !== '' && !token.startsWith('#'));
  if (lines.length === 0) throw wrong('contains no token, expected one per line');
  return lines.map(({ token, line }) => {
    if (/\s/.test(token)) throw wrong('got several words, expected one token per line', line);
    if (token.length < MIN_TOKEN_LENGTH)
      throw wrong(`got a token of ${token.length} characters, expected at least ${MIN_TOKEN_LENGTH}`, line);
    const grant = {
      name: `line-${line}`,
      scopes: new Set(TOKEN_SCOPES),
      namespaces: 'any',
      clusterSets: 'any',
    } as const;
    return { digest: sha256(token), token, grant, isPlain: true, isPlaceholder: isPlaceholder(token) };
  });
}

const name = z.string().regex(/^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/, 'expected a name of Kubernetes');
const names = z.array(z.union([z.literal('*'), name])).min(1);

const declared = z
  .strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z0-9]([-._A-Za-z0-9]{0,61}[A-Za-z0-9])?$/, 'expected a name of letters, digits, - . _'),
    token: z
      .string()
      .regex(/^\S+$/, 'expected a token without spaces')
      .min(MIN_TOKEN_LENGTH, `expected at least ${MIN_TOKEN_LENGTH} characters; ${MAKE_ONE}`)
      .optional(),
    sha256: z
      .string()
      .regex(/^[0-9a-fA-F]{64}$/, 'expected 64 hexadecimal digits: printf %s TOKEN | sha256sum')
      .optional(),
    scopes: z.array(z.enum(TOKEN_SCOPES)).min(1).default(['plugin']),
    namespaces: names.optional(),
    clusterSets: names.optional(),
  })
  .superRefine(({ token, sha256: digest, scopes, namespaces }, context) => {
    const wrong = (message: string): void => context.addIssue({ code: 'custom', message });
    if ((token === undefined) === (digest === undefined)) wrong('expected either token or sha256');
    if (scopes.some((scope) => scope === 'plugin' || scope === 'extension') && namespaces === undefined)
      wrong('needs namespaces: those whose placements it may read, or ["*"]');
  });

const schema = z.strictObject({ tokens: z.array(declared).min(1) });

function declaredTokens(file: string, text: string): readonly TokenEntry[] {
  const config = { file, text, subject: 'Token file', code: 'plugin.token' };
  const { tokens } = parseConfig(config, schema);
  const entries = tokens.map(({ token, sha256: digest, ...rest }): TokenEntry => {
    const grant = {
      name: rest.name,
      scopes: new Set(rest.scopes),
      namespaces: boundTo(rest.namespaces),
      clusterSets: boundTo(rest.clusterSets),
    };
    const hash = token === undefined ? Buffer.from(digest ?? '', 'hex') : sha256(token);
    const placeholder = token !== undefined && isPlaceholder(token);
    return { digest: hash, token, grant, isPlain: false, isPlaceholder: placeholder };
  });
  entries.forEach(({ digest, grant }, index) => {
    const before = entries.slice(0, index);
    if (before.some((other) => other.grant.name === grant.name))
      throw configProblem(config, ['tokens', index, 'name'], `got a second token named ${grant.name}`);
    // The bindings would depend on the order of the two entries.
    if (before.some((other) => other.digest.equals(digest)))
      throw configProblem(config, ['tokens', index], `${grant.name} has the same token as another entry`);
  });
  return entries;
}

/** Absent: any. The schema requires a binding where one is needed. */
function boundTo(list: readonly string[] | undefined): NameRestriction {
  return list === undefined || list.includes('*') ? 'any' : new Set(list);
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
