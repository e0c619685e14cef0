import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { GETPARAMS_PATH } from '../../plugin/getparams-endpoint.ts';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { CONFIG_MAP, MANIFEST_WORK, NAMESPACE } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { baseFiles, cluster, placement, replicaSet, yaml } from '../app/serve/fleet-fixture.ts';
import { RECORDS_NAME } from '../../src/core/publish/record/compact-record.ts';
import { decisionsOn } from '../app/serve/served-fleet.ts';
import { startEmbeddedHub } from '../fakes/embedded-hub.ts';
import { GiteaFake } from '../../packages/forge/test/fakes/forges/gitea-fake.ts';
import { GitFixture } from '../../packages/git-reader/test/fakes/git-fixture.ts';
import { limitProblem, readLimits } from '../house/limits.ts';
import { TracedProcess } from './entered-files.ts';

/**
 * How many files of the source one behaviour enters: a reader of this behaviour has to open so many. test/house/limits.json holds the
 * numbers reached. Each test writes the files to .cache/entered/NAME.txt, and names those that the last passing run did not enter.
 */
const SEEN = '.cache/entered';
/** One round loads the program, eight are measured: under load, a conflict or a lease may fall into several. */
const ROUNDS = 9;
/** A step at the end of an action may come after the look at it: so many files a measurement may miss. */
const SPARE = 5;
const SECRET = 'a-secret-of-this-test';

let dir: string;
let git: GitFixture;
let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
let traced: TracedProcess | undefined;
const closing: (() => unknown)[] = [];

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'berth-behaviour-'));
  git = new GitFixture();
  hub = await startEmbeddedHub({}, { members: ['edge'] });
});
afterEach(async () => {
  await traced?.close();
  for (const close of closing.splice(0)) await close();
  await hub.close();
  git.remove();
  rmSync(dir, { recursive: true, force: true });
});

function file(name: string, text: string): string {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
}

/** `berth serve` on the hub, with nothing to wait for: it polls often, and holds nothing back. */
async function serve(...args: readonly string[]): Promise<string> {
  const tokens = file('tokens', SECRET);
  const data = join(dir, 'data');
  const own = ['--kubeconfig', hub.kubeconfig, '--embedded', '--data', data, '--removal-budget', '100%'];
  traced = new TracedProcess([
    ...['serve', ...own, '--listen', '127.0.0.1:0', '--token-file', tokens],
    ...args,
  ]);
  await expect.poll(() => decisionsOn(hub.api, 'web')).toHaveLength(2);
  await expect.poll(() => traced?.process.text).toContain('read and published once');
  return /"listen":"([^"]+)"/.exec(traced.process.text)?.[1] ?? '';
}

/** Twelve clusters, of which the first `tainted` ones are drained. */
const clusters = (tainted = 0) =>
  yaml(
    ...Array.from({ length: 12 }, (_, n) =>
      cluster(nameOf(n), n < tainted ? { taints: [{ key: 'drain', value: 'x', effect: 'NoSelect' }] } : {}),
    ),
  );
const nameOf = (n: number) => `c${String(n).padStart(2, '0')}`;
const web = (count: number) => ({
  'web.yaml': yaml(placement('web', { numberOfClusters: count }), replicaSet),
});

async function expectFewFiles(behaviour: string, act: (round: number) => Promise<unknown>): Promise<void> {
  const entered = (await traced?.enteredBy(act, ROUNDS)) ?? [];
  const list = join(SEEN, `${behaviour.replaceAll(' ', '-')}.txt`);
  const [passed, limit] = [`${list}.passed`, readLimits().behaviours[behaviour]];
  mkdirSync(SEEN, { recursive: true });
  writeFileSync(list, `${entered.join('\n')}\n`);
  expect(entered.length).toBeGreaterThan(5);
  const problem = limitProblem(behaviour, limit, { files: entered.length }, SPARE);
  const before = existsSync(passed) ? readFileSync(passed, 'utf8').split('\n') : entered;
  const added = entered.filter((one) => !before.includes(one)).map((one) => `new: ${one}`);
  expect(problem && [problem, `the files: ${list}`, ...added]).toBeUndefined();
  copyFileSync(list, passed);
}

it('a commit that taints a cluster', async () => {
  git.commit({ ...baseFiles, 'clusters.yaml': clusters(), ...web(2) });
  await serve('--repo', git.path, '--poll', '1s');
  const works = async () =>
    (await hub.api.list(MANIFEST_WORK)).items.map(({ metadata }) => metadata.namespace).sort();
  await expect.poll(works).toEqual([nameOf(0), nameOf(1)]);
  const records = { namespace: 'team-a', name: RECORDS_NAME };
  await expectFewFiles('taint commit', async (round) => {
    const commit = git.commit({ 'clusters.yaml': clusters(round + 1) });
    await expect.poll(works).toEqual([nameOf(round + 1), nameOf(round + 2)]);
    // The last effect: records are gathered for a second or longer, so it may else fall into the next round.
    await expect.poll(async () => JSON.stringify(await hub.api.get(CONFIG_MAP, records))).toContain(commit);
  });
});

it('a pull request until its comment', async () => {
  const forge = new GiteaFake();
  const apiUrl = await forge.start();
  closing.push(() => forge.close());
  forge.repositoryUrl = git.path;
  git.commit({ ...baseFiles, 'clusters.yaml': clusters(), ...web(2) });
  const credentials = { tokenFile: file('forge-token', 'a-token') };
  const preview = { provider: 'gitea', apiUrl, repository: 'team/fleet', credentials };
  const sources = [{ name: 'fleet', url: git.path, ref: { branch: 'main' }, preview }];
  const webhook = `gitea=${file('webhook-secret', SECRET)}`;
  const url = await serve('--config', file('sources.yaml', yaml({ sources })), '--webhook', webhook);
  await expectFewFiles('pull request', async (round) => {
    git.run('checkout', '-q', '-b', `change-${round}`, 'main');
    const head = git.commit(web(3 + round));
    git.run('checkout', '-q', 'main');
    forge.pulls.set(round, { number: round, head });
    await fetch(`${url}/webhooks/gitea`, forge.pullDelivery(round, 'opened', SECRET));
    await expect
      .poll(() => forge.comments.find(({ number }) => number === round)?.body)
      .toContain(`+${1 + round} cluster`);
    await expect.poll(() => forge.statusOf(head, 'berth/preview/fleet')?.state).toBe('success');
  });
});

it('an answer of the plugin', async () => {
  const placements = Array.from({ length: ROUNDS }, (_, round) => placement(`web${round}`));
  git.commit({ ...baseFiles, 'clusters.yaml': clusters(), ...web(2), 'more.yaml': yaml(...placements) });
  const url = await serve('--repo', git.path);
  for (const { metadata } of placements)
    await expect.poll(() => decisionsOn(hub.api, metadata.name)).toHaveLength(12);
  const headers = { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' };
  // A placement that was not asked for before: the answer is computed.
  await expectFewFiles('plugin answer', async (round) => {
    const parameters = { placement: `team-a/web${round}` };
    const body = JSON.stringify({ applicationSetName: 'apps', input: { parameters } });
    const response = await fetch(`${url}${GETPARAMS_PATH}`, { method: 'POST', headers, body });
    expect(await response.text()).toContain(nameOf(0));
  });
});

it('a work in the agent', async () => {
  const work = (value: string): object => ({
    apiVersion: 'work.open-cluster-management.io/v1',
    kind: 'ManifestWork',
    metadata: { name: 'web', namespace: 'edge' },
    spec: { workload: { manifests: [configMap(value), DEPLOYMENT] }, manifestConfigs: [FEEDBACK] },
  });
  await hub.api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'edge' } });
  await hub.api.create(MANIFEST_WORK, work('first') as KubeObject);
  const key = { namespace: 'edge', name: 'web' };
  const reported = async () => {
    const { metadata, status } = (await hub.api.get(MANIFEST_WORK, key)) as unknown as ManifestWork;
    return (status?.conditions ?? []).filter((one) => one.observedGeneration === metadata.generation).length;
  };
  const member = ['--kubeconfig', hub.hub.memberKubeconfigPath('edge'), '--cluster-name', 'edge'];
  traced = new TracedProcess(['agent', '--hub-kubeconfig', hub.kubeconfig, ...member]);
  await expect.poll(reported).toBe(2);
  await expectFewFiles('work in the agent', async (round) => {
    const { spec } = work(`round ${round}`) as { spec: object };
    await hub.api.mergePatch(MANIFEST_WORK, key, { spec });
    await expect.poll(reported).toBe(2);
  });
});

const configMap = (value: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'web', namespace: 'default' },
  data: { value },
});
const DEPLOYMENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web' }] } },
  },
};
const FEEDBACK = {
  resourceIdentifier: { group: 'apps', resource: 'deployments', name: 'web', namespace: 'default' },
  feedbackRules: [{ type: 'WellKnownStatus' }],
};
