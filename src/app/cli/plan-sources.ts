import { resolve } from 'node:path';
import { sha256 } from '../../adapters/store/world-digest.ts';
import { APPLY_SET_PART_OF_LABEL, applySetId } from '../../core/sync/apply-set.ts';
import type { SourceFleet } from '../preview/merge-fleets.ts';
import type { PlanRevisionsInput } from '../preview/plan-revisions.ts';
import type { SourceSettings } from '../settings/source-settings.ts';
import type { CliIo } from './cli-io.ts';
import { asksHub } from './hub-flags.ts';
import { checkSettingsFlags, type SettingsFlags, withFetchContext } from './settings-sources.ts';

interface PlanSourceFlags extends SettingsFlags {
  readonly hub: boolean;
}

type PlanSources = Pick<PlanRevisionsInput, 'sources' | 'others' | 'budgetOf'>;

/**
 * The sources that a plan is about: those that live in the clone come from its two commits, all others are fetched as they are
 * now, unless a hub has them already.
 */
export async function planSources(
  io: CliIo,
  flags: PlanSourceFlags,
  tell: (what: string) => void,
): Promise<PlanSources> {
  checkSettingsFlags(flags);
  if (flags.config === undefined)
    return { sources: [{ name: 'fleet', rank: 0, paths: flags.path, budget: undefined, applies: true }] };
  const { readSettings } = await import('../settings/read-settings.ts');
  const { chooseSources } = await import('../settings/choose-sources.ts');
  const all = await readSettings(resolve(io.cwd, flags.config));
  const chosen = chooseSources(all, flags.source, 'only');
  const others = asksHub(flags) ? [] : all.filter((source) => !chosen.includes(source));
  const setOf = ({ name }: SourceSettings): string =>
    applySetId(sha256, { name: `berth-${name}`, namespace: 'berth-system' });
  const budgets = new Map(all.map((source) => [setOf(source), source.removalBudget]));
  return {
    sources: chosen.map((source) => ({
      name: source.name,
      rank: all.indexOf(source),
      paths: source.paths ?? [],
      budget: source.removalBudget,
      applies: source.sync !== 'observe',
    })),
    others: await fetchOthers(io, flags, others, (source) => {
      tell(`fetching ${source.name}`);
      return all.indexOf(source);
    }),
    budgetOf: ({ metadata }) => budgets.get(metadata.labels?.[APPLY_SET_PART_OF_LABEL] ?? ''),
  };
}

async function fetchOthers(
  io: CliIo,
  flags: PlanSourceFlags,
  others: readonly SourceSettings[],
  rankOf: (source: SourceSettings) => number,
): Promise<readonly SourceFleet[]> {
  if (others.length === 0) return [];
  const { withFetchedFleet } = await import('../settings/fetch-fleet.ts');
  return withFetchContext(io, flags, others, async (context) => {
    const fleets: SourceFleet[] = [];
    for (const source of others) {
      const { name, removalBudget: budget } = source;
      const rank = rankOf(source);
      fleets.push(
        await withFetchedFleet(source, context, async ({ objects }) => ({ name, rank, budget, objects })),
      );
    }
    return fleets;
  });
}
