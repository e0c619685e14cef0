import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { GitAuth } from '@berth/git-reader/repository/git-auth';
import { parseGitRef } from '@berth/git-reader/repository/git-ref';
import type { GitRef } from '@berth/git-reader/repository/git-repository';
import type { ServeSource } from '../../../../controllers/sources/progress/source-options.ts';
import { oneOf, wrongOption, wrongValue, checkListedKinds } from '../../flags/option-values.ts';

/** Flags that describe a source, for users with one source, or several with the same options. */
export interface SourceFlags {
  readonly repo?: readonly string[];
  readonly ref?: string;
  readonly path?: readonly string[];
  readonly gitTokenFile?: string;
  readonly gitSshKey?: string;
  readonly gitKnownHosts?: string;
  readonly force: boolean;
  readonly onConflict?: string;
  readonly kind: readonly string[];
}

export function sourcesOfFlags(
  flags: SourceFlags,
  sync: ServeSource['sync'],
  cwd: string,
): readonly ServeSource[] {
  checkListedKinds(flags.kind);
  return (flags.repo ?? []).map((repo) => {
    const named = /^([a-z0-9][-a-z0-9]*)=(.+)$/.exec(repo);
    return {
      name: named?.[1],
      url: absoluteUrl(named?.[2] ?? repo, cwd),
      ref: flags.ref === undefined ? undefined : parseRef(flags.ref),
      paths: flags.path,
      auth: authOf(flags),
      sync,
      ...conflictRules(flags),
      kinds: flags.kind,
    };
  });
}

/** The flags that `conflictRules` reads. */
export function addConflictFlags(command: Command): Command {
  return command
    .option('--force', 'take over objects of other sources, and fields that other managers own', false)
    .option(
      '--on-conflict <mode>',
      'how to handle fields that other managers own: report them or take them over (default: report; take with --force)',
    );
}

/**
 * How a source handles objects and fields of others.
 * @throws InputError for a value other than `report` or `take`
 */
export function conflictRules({
  force,
  onConflict,
}: Pick<SourceFlags, 'force' | 'onConflict'>): Pick<ServeSource, 'force' | 'onConflict'> {
  if (onConflict === undefined) return { force };
  return { force, onConflict: oneOf('--on-conflict', onConflict, ['report', 'take'] as const) };
}

/** A path is relative to the folder in which the command runs. `host:path` and `scheme://` are not paths. */
function absoluteUrl(url: string, cwd: string): string {
  return /^(\.\.?(\/|$)|[^:/@]+(\/|$))/.test(url) && !url.includes('://') ? resolve(cwd, url) : url;
}

function parseRef(text: string): GitRef {
  const ref = parseGitRef(text);
  if ('problem' in ref) throw wrongOption('--ref', ref.problem);
  return ref;
}

function authOf(flags: SourceFlags): GitAuth | undefined {
  if (flags.gitTokenFile !== undefined) return { type: 'token', file: flags.gitTokenFile };
  if (flags.gitSshKey === undefined) return undefined;
  if (flags.gitKnownHosts === undefined)
    throw wrongValue('--git-known-hosts', '', 'a file of host keys next to --git-ssh-key');
  return { type: 'ssh', keyFile: flags.gitSshKey, knownHostsFile: flags.gitKnownHosts };
}
