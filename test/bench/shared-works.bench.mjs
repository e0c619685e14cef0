// One controller beside three that share the works (--share-works), on a real hub (etcd and kube-apiserver), in turns, each on a fresh one:
//   npm run build:modules && npm run build && node test/bench/shared-works.bench.mjs [--namespaces 150] [--commits 4] [--rounds 3]
// Each namespace has a placement of six clusters and a replica set. Each commit changes all of their works. A line gives the times from
// each commit until the hub has stored the last work, in ms. The programs are those of test/interop (docs/testing.md).
import { mkdtempSync, rmSync } from 'node:fs';
import { register } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startBerth } from './berth-child.mjs';

register('./real-hub/typescript-hook.mjs', import.meta.url);
const { MANIFEST_WORK } = await import('@berth/kube/model/kinds');
const { GitFixture } = await import('../../packages/git-reader/test/fakes/git-fixture.ts');
const { binding, clusterSet, namespace, placement, retired, yaml } = await import('../app/serve/fleet-fixture.ts');
const { CONTROL_PLANE_PROGRAMS } = await import('../interop/peers/control-plane.ts');
const { hasPeers } = await import('../interop/peers/peer-programs.ts');
const { RealHub } = await import('../interop/peers/real-hub.ts');

const number = (value) => ({ type: 'string', default: String(value) });
const { values } = parseArgs({ options: { namespaces: number(150), commits: number(4), rounds: number(3) } });
const teams = Array.from({ length: Number(values.namespaces) }, (_, at) => `team-${at}`);
const clusters = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'];
const MAIN = join(import.meta.dirname, '../../dist/src/app/cli/main.js');

const replicaSet = (team, text) => ({
  apiVersion: 'work.open-cluster-management.io/v1alpha1',
  kind: 'ManifestWorkReplicaSet',
  metadata: { name: 'web', namespace: team },
  spec: {
    placementRefs: [{ name: 'web' }],
    manifestWorkTemplate: {
      workload: { manifests: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm', namespace: team }, data: { text } }] },
    },
  },
});

function commit(git, text) {
  git.commit({
    'clusters.yaml': `${retired(0)}---\n${yaml(clusterSet, ...clusters.map(namespace))}`,
    'teams.yaml': yaml(...teams.flatMap((team) => [namespace(team), binding(team), placement('web', {}, {}, team), replicaSet(team, text)])),
  });
}

/** Follows the works of the hub. `until` resolves when all of them deploy the text. */
function followWorks(api, resourceVersion, signal) {
  const texts = new Map();
  let check = () => undefined;
  void (async () => {
    // An API server ends watches of kinds that were defined a moment ago.
    for (let version = resourceVersion; !signal.aborted; )
      for await (const event of api.watch(MANIFEST_WORK, { resourceVersion: version, signal })) {
        version = event.type === 'bookmark' ? event.resourceVersion : event.object.metadata.resourceVersion;
        if (event.type === 'bookmark') continue;
        const { namespace: cluster, name } = event.object.metadata;
        texts.set(`${cluster}/${name}`, event.object.spec.workload.manifests[0].data.text);
        check();
      }
  })();
  const isDone = (text) => texts.size === teams.length * clusters.length && [...texts.values()].every((one) => one === text);
  return { until: (text) => new Promise((resolve) => (check = () => isDone(text) && resolve())) };
}

async function measure(processes) {
  const [hub, git, stop] = [await RealHub.start(), new GitFixture(), new AbortController()];
  const data = mkdtempSync(join(tmpdir(), 'berth-bench-'));
  const { resourceVersion } = await hub.api.list(MANIFEST_WORK);
  const works = followWorks(hub.api, resourceVersion, stop.signal);
  commit(git, '0');
  const flags = ['--repo', git.path, '--kubeconfig', hub.plane.kubeconfig, '--poll', '200ms', ...(processes > 1 ? ['--share-works'] : [])];
  const done = works.until('0');
  const running = Array.from({ length: processes }, (_, at) => startBerth(MAIN, ['serve', '--data', join(data, String(at)), ...flags]));
  for (const { child } of running) {
    child.stdout.resume();
    child.stderr.resume();
  }
  await done;
  // Processes that have just started divide the works first.
  await new Promise((resolve) => setTimeout(resolve, 15_000));
  const times = [];
  for (let round = 1; round <= Number(values.commits); round++) {
    const begun = performance.now();
    const written = works.until(String(round));
    commit(git, String(round));
    await written;
    times.push(Math.round(performance.now() - begun));
  }
  stop.abort();
  await Promise.all(running.map((one) => one.stop()));
  await hub.close();
  git.remove();
  rmSync(data, { recursive: true, force: true });
  return times;
}

if (hasPeers(...CONTROL_PLANE_PROGRAMS))
  for (let round = 1; round <= Number(values.rounds); round++)
    for (const processes of [1, 3]) console.log(`${processes} controllers, ${teams.length * clusters.length} works: ${(await measure(processes)).join(' ')} ms`);
