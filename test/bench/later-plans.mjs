/**
 * Plans one change again and again in one process, on the state of a hub as the controller gives it to a process that plans, without
 * requests to the hub. Started by previews.bench.mjs. Prints a line of JSON: milliseconds of processor time of each plan.
 * Usage: node later-plans.mjs CHECKOUT REPOSITORY BASE HEAD COUNT [DRAINED]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';

const [checkout, gitDir, base, head, count, drained] = process.argv.slice(2);
const load = (file) => import(join(checkout, '.cache/modules', file));
const { planRevisions } = await load('src/controllers/previews/plan-revisions.js');
const { RenderedSets } = await load('src/controllers/previews/rendered-sets.js');
const { KeptBases } = await load('src/controllers/previews/compared-commits.js');
const { SourceChecker } = await load('src/core/sources/check-sources.js');
const { SideDecider } = await load('src/core/preview/sides/side-decider.js');
const { parseWhatIf } = await load('src/core/preview/what-if/parse-what-if.js');
const { applicationContext } = await load('src/app/generator-inputs/plan-inputs.js');
const { LastLists } = await load('packages/runtime/src/lists/once-per-list.js');

const hub = deserialize(serialize(await hubOf(base)));
const bases = new KeptBases();
const checker = new SourceChecker();
const memory = {
  ...{ bases, checker, decider: new SideDecider({ staysFor: 'many plans' }) },
  ...{ rendered: new RenderedSets(), baseLists: new LastLists() },
};
const times = [];
for (let at = 0; at < Number(count); at++) {
  const now = new Date(Date.parse('2026-01-01T00:00:00Z') + at * 60_000).toISOString();
  const before = process.cpuUsage();
  bases.beginPlan();
  await planRevisions({
    ...{ folder: gitDir, base, head, fromMergeBase: false, engine: 'bench', ambient: process.env, onProgress: () => undefined, tell: () => undefined },
    sources: [{ name: 'fleet', rank: 0, paths: [], kinds: ['/ConfigMap'], applies: true, allowEmpty: false }],
    ...{ now, hub: { ...hub, now }, memory, applications: applicationContext('argocd', []) },
    whatIf: drained === undefined ? undefined : [parseWhatIf('drain', drained)],
  });
  const { user, system } = process.cpuUsage(before);
  times.push((user + system) / 1000);
}
console.log(JSON.stringify(times));

/** A hub on which everything of a commit is applied and published. */
async function hubOf(commit) {
  const { openRepository } = await load('packages/git-reader/src/open-repository.js');
  const { SourceReader } = await load('src/controllers/sources/reading/source-reader.js');
  const { snapshotOfObjects } = await load('src/core/sources/snapshot-of-objects.js');
  const { completeTransition } = await load('src/core/transition/transition.js');
  const { scheduleAll, scheduleEach } = await load('packages/placement/src/engine.js');
  const { decisionPages } = await load('src/core/preview/effects/decision-pages.js');
  const objectsIn = mkdtempSync(join(tmpdir(), 'berth-later-'));
  const { repository } = await openRepository({ gitDir, ambient: process.env, objectsIn });
  const { objects } = await new SourceReader(repository).read(await repository.resolveRevision(commit));
  await repository.close();
  rmSync(objectsIn, { recursive: true });
  const snapshot = snapshotOfObjects(objects, { now: '2026-01-01T00:00:00Z' });
  const outcomeOf = (_key, { selected }) => selected;
  const { decisions } = completeTransition({ decide: scheduleEach, outcomeOf }, snapshot).snapshot;
  const pages = decisionPages(scheduleAll({ ...snapshot, decisions }), undefined, []);
  return { ...snapshot, decisions: pages.map((page) => ({ ...page, status: page.status })) };
}
