import { readFileSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { KubeConfigParts } from '../src/config/kubeconfig-entries.ts';
import { mergeKubeconfigs } from '../src/config/kubeconfig-files.ts';
import { loadKubeConfig } from '../src/config/load-kube-config.ts';
import { writeCase } from './kubeconfig-case-files.ts';
import { KUBECONFIG_CASES, type KubeconfigSummary } from './kubeconfig-cases.ts';

function summaryOf({ clusters, users, contexts, currentContext }: KubeConfigParts): KubeconfigSummary {
  const contentOf = (file: string | undefined) => file && readFileSync(file, 'utf8');
  const words = (...all: (string | undefined)[]) => all.filter(Boolean).join(' ');
  // The first entry of a name counts, as in the look-ups of KubeConfig.
  const byName = <T extends { readonly name: string }>(entries: readonly T[], say: (entry: T) => string) =>
    Object.fromEntries(entries.toReversed().map((entry) => [entry.name, say(entry)]));
  return {
    current: currentContext ?? '',
    contexts: byName(contexts, ({ cluster, user }) => words(cluster, user)),
    clusters: byName(clusters, ({ server, caFile }) => words(server, contentOf(caFile))),
    users: byName(users, ({ token, certFile }) => words(token, contentOf(certFile))),
  };
}

describe('the files of KUBECONFIG are read as kubectl reads them', () => {
  it.each(KUBECONFIG_CASES)('$name', (given) => {
    const { folder, env } = writeCase(given);
    try {
      if (given.want === 'refused') expect(() => mergeKubeconfigs(env)).toThrow(/: cannot be read: /);
      else expect(summaryOf(mergeKubeconfigs(env))).toEqual(given.want);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('a kubeconfig that cannot be used', () => {
  const load = (list: string | undefined, files: Record<string, string>) => {
    const { folder, env } = writeCase({ name: '', files, list, want: 'refused' });
    try {
      loadKubeConfig({ env });
      return undefined;
    } catch (error) {
      return (error as Error).message.replaceAll(folder, '');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };

  it.each([
    {
      name: 'because KUBECONFIG leads to nothing',
      list: 'gone:none',
      files: {},
      says: 'kubeconfig: was not found: KUBECONFIG names no file with a cluster (got "/gone:/none"), and this process does not run in a pod',
    },
    {
      name: 'because one of several files is broken, names that file',
      list: 'a:b',
      files: { a: '{}', b: 'users: [{name: u, user: {token: 12}}]' },
      says: '/b: cannot be read: users[0].user: token is a number, expected text',
    },
    {
      name: 'because no context is chosen, lists those there are',
      list: 'a',
      files: { a: 'contexts: [{name: x}, {name: y}]' },
      says: 'kubeconfig: has no current-context, expected one of: x, y',
    },
  ])('$name', ({ list, files, says }) => expect(load(list, files)).toBe(says));
});
