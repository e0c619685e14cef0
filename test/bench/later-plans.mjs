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
const load = (file) => import(join(checkout, '.cache/modules/src', file));
const { planRevisions } = await load('controllers/previews/plan-revisions.js');
const { SourceChecker } = await load('core/sources/check-sources.js');
const { applicationContext } = await load('app/generator-inputs/argo-part.js');
const { parseWhatIf } = await load('core/preview/what-if/parse-what-if.js');
/** Older checkouts have files instead of bases, under two names. */
const { KeptBases } = await load('controllers/sources/reading/kept-bases.js').catch(() => ({}));
const { InMemoryParsedFiles, RememberedFiles = InMemoryParsedFiles } =
  KeptBases === undefined
    ? await load('controllers/previews/bounded/in-memory-parsed-files.js').catch(() =>
        load('controllers/previews/bounded/remembered-files.js'),
      )
    : {};
/** An older checkout has none. */
const { SideDecider } = await load('core/preview/sides/side-decider.js').catch(() => ({}));
const { LastLists } = await load('core/once-per-list.js').catch(() => ({}));
const { RenderedSets } = await load('controllers/previews/rendered-sets.js').catch(() => ({}));

const hub = deserialize(serialize(await hubOf(base)));
const [bases, files] = [KeptBases && new KeptBases(), RememberedFiles && new RememberedFiles()];
const checker = new SourceChecker();
const memory = { files, bases, checkerOf: () => checker, decider: SideDecider && new SideDecider({ staysFor: 'many plans' }), rendered: RenderedSets && new RenderedSets(), baseLists: LastLists && new LastLists() };
const times = [];
for (let at = 0; at < Number(count); at++) {
  const now = new Date(Date.parse('2026-01-01T00:00:00Z') + at * 60_000).toISOString();
  const before = process.cpuUsage();
  const kept = bases ?? files;
  (kept.beginPlan ?? kept.turn).call(kept);
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
  const { openRepository } = await load('adapters/git/open-repository.js');
  const { SourceReader } = await load('controllers/sources/reading/source-reader.js');
  const { snapshotOfObjects } = await load('core/sources/snapshot-of-objects.js');
  const { completeTransition } = await load('core/transition/transition.js');
  const { scheduleEach } = await load('core/placement/schedule-each.js');
  const { scheduleAll } = await load('core/placement/schedule-all.js');
  const { decisionPages } = await load('core/preview/effects/decision-pages.js');
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
