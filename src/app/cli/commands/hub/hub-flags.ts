import type { Command } from 'commander';
import type { ApiServerFiles } from '@berth/embedded-hub/hub-options';
import { wholeNumber } from '../../flags/option-values.ts';
import { wrongValue } from '../../flags/wrong-option.ts';

/**
 * Maximum number of members: each has a store and five watches of simulated workloads in this
 * process, so a thousand need about a gigabyte.
 */
const MEMBER_LIMIT = 1000;

/**
 * Parses `HOST:PORT`, `:PORT` or `[::1]:PORT`.
 * @throws InputError
 */
export function parseListen(text: string): { readonly host: string; readonly port: number } {
  const match = /^(\[[0-9a-fA-F:]+\]|[^:[\]]*):(\d{1,5})$/.exec(text);
  const port = Number(match?.[2]);
  if (match === null || port > 65_535)
    throw wrongValue('--listen', text, 'HOST:PORT, for example 127.0.0.1:6443');
  const host = (match[1] ?? '').replace(/^\[|\]$/g, '');
  return { host: host === '' ? '127.0.0.1' : host, port };
}

/**
 * A number means `cluster1` … `clusterN`; any other text is a list of names, separated by commas.
 * @throws InputError
 */
export function parseMembers(text: string): readonly string[] {
  if (/^\d+$/.test(text)) {
    const count = Number(text);
    if (count > MEMBER_LIMIT) throw wrongValue('--members', text, `at most ${String(MEMBER_LIMIT)}`);
    return Array.from({ length: count }, (_, index) => `cluster${String(index + 1)}`);
  }
  const names = text.split(',').map((name) => name.trim());
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (names.includes('') || duplicate !== undefined)
    throw wrongValue('--members', text, 'a number, or different names with commas');
  return names;
}

/**
 * Parses the limit of open connections.
 * @throws InputError
 */
export function parseConnections(flag: string, text: string): number {
  return wholeNumber(flag, text, 1, 9_999_999);
}

/** Flags of kube-apiserver that installers and test environments set. */
export interface ApiServerFileFlags {
  readonly clientCaFile?: string;
  readonly tlsCertFile?: string;
  readonly tlsPrivateKeyFile?: string;
  readonly serviceAccountKeyFile: readonly string[];
  readonly serviceAccountIssuer: readonly string[];
  readonly tokenAuthFile?: string;
}

export function addApiServerFileFlags(run: Command): Command {
  const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];
  return run
    .option('--client-ca-file <file>', 'authorities (PEM) whose client certificates the hub also accepts')
    .option(
      '--tls-cert-file <file>',
      'serving certificate (PEM, with its chain), instead of one that the hub creates',
    )
    .option('--tls-private-key-file <file>', 'key (PEM) of --tls-cert-file')
    .option(
      '--service-account-key-file <file>',
      'key (PEM) with which others sign ServiceAccount tokens; may be repeated',
      collect,
      [],
    )
    .option('--service-account-issuer <issuer>', 'issuer that such tokens name; may be repeated', collect, [])
    .option(
      '--token-auth-file <file>',
      'static tokens (CSV: token,user,uid,"group1,group2"), read when the hub starts',
    );
}

/** @throws InputError when only one of the two serving files is given */
export function apiServerFiles(flags: ApiServerFileFlags): ApiServerFiles {
  const { tlsCertFile: certificate, tlsPrivateKeyFile: key } = flags;
  if (certificate === undefined && key !== undefined)
    throw wrongValue('--tls-private-key-file', key, '--tls-cert-file as well');
  if (certificate !== undefined && key === undefined)
    throw wrongValue('--tls-cert-file', certificate, '--tls-private-key-file as well');
  return {
    clientCa: flags.clientCaFile,
    serving: certificate === undefined || key === undefined ? undefined : { certificate, key },
    tokenKeys: flags.serviceAccountKeyFile,
    tokenIssuers: flags.serviceAccountIssuer,
    tokens: flags.tokenAuthFile,
  };
}
