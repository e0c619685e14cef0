import { expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { RepositoryLoop } from '../../../../src/controllers/sources/following/repository-loop.ts';
import { SourceDeclarations } from '../../../../src/controllers/sources/progress/source-declarations.ts';
import type { GitSources } from '../../../../src/controllers/sources/reading/git-source.ts';
import { InputError } from '@berth/runtime/errors';
import { type KindInfo, NAMESPACE, PLACEMENT } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { hubSyncFor } from './hub-sync-fixture.ts';
import { interceptedApi } from './intercepted-api.ts';

const HOUR_MS = 3_600_000;

/**
 * A namespace that comes a moment later, on a hub with the kinds of OCM: the same on the embedded
 * one and on kube-apiserver.
 * @param hub read in each test
 */
export function namespacesThatComeLater(hub: () => KubeApi): void {
  it.each([
    { name: 'late-watched', mayWatch: true },
    { name: 'late-tried', mayWatch: false },
  ])(
    'an object is applied soon after its namespace came; namespaces may be watched: $mayWatch',
    async (given) => {
      const { name, mayWatch } = given;
      let watches = 0;
      const api = interceptedApi(hub(), (method, [kind]) => {
        if (method !== 'watch' || (kind as KindInfo).plural !== 'namespaces') return;
        watches += 1;
        if (!mayWatch) throw new InputError('may not', { code: 'kube.forbidden', subject: 'namespaces' });
      });
      const placement: KubeObject = {
        apiVersion: 'cluster.open-cluster-management.io/v1beta1',
        kind: 'Placement',
        metadata: { name: 'web', namespace: name },
        spec: {},
      };
      const problems: string[] = [];
      const sync = hubSyncFor({
        api,
        source: name,
        declarations: new SourceDeclarations(systemClock, [{ name, force: false }]),
        createNamespaces: false,
      });
      const loop = new RepositoryLoop({
        url: '/srv/fleet',
        repository: repositoryOf(placement),
        sources: [{ name, sync }],
        clock: systemClock,
        random: () => 0.5,
        log: new SilentLogger(),
        emit: (event) => {
          if (event.kind === 'sync-problem') problems.push(event.message);
        },
        pollIntervalMs: HOUR_MS,
        resyncIntervalMs: HOUR_MS,
        emitSource: () => undefined,
      });
      const stop = new AbortController();
      const running = loop.run(stop.signal);
      try {
        await expect.poll(() => watches).toBeGreaterThan(0);
        expect(loop.status()[0]?.outcome?.problems).toEqual([
          expect.objectContaining({ object: `Placement ${name}/web`, missingNamespace: name }),
        ]);
        await hub().create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
        await expect.poll(() => hub().get(PLACEMENT, { namespace: name, name: 'web' })).toBeDefined();
        await expect.poll(() => loop.status()[0]?.outcome?.problems).toEqual([]);
        // However often it was tried.
        expect(problems).toHaveLength(1);
      } finally {
        stop.abort();
        await running;
      }
    },
  );
}

/** A repository whose only commit has the object. */
function repositoryOf(object: KubeObject): GitSources {
  const person = { name: 'Ada', email: '', timeMs: 0 };
  const commit = {
    id: 'a',
    tree: '',
    parents: [],
    author: person,
    committer: person,
    subject: '',
    signed: false,
  };
  const location = { file: 'a.yaml', line: 1, column: 1 };
  const repository: Pick<GitSources, 'fetch' | 'read' | 'last' | 'settle'> = {
    fetch: async () => ({ commit: 'a', changed: false }),
    read: async () => [
      {
        commit,
        objects: [{ object, location, place: { document: 0, within: [] } }],
        problems: [],
        files: 1,
        complete: true,
        textOf: async () => undefined,
      },
    ],
    last: async () => undefined,
    settle: async () => undefined,
  };
  return repository as GitSources;
}
