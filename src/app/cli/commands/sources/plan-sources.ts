import { resolve } from 'node:path';
import { sha256 } from '@berth/runtime/sha256';
import { APPLY_SET_PART_OF_LABEL, applySetId, parentOfSource } from '../../../../core/sync/apply-set.ts';
import type { SourceDeclaration } from '../../../../core/preview/sides/merge-sources.ts';
import type { PlanRevisionsInput } from '../../../../controllers/previews/plan-revisions.ts';
import type { AnnouncedSettings } from '../../../../controllers/leadership/announced-settings.ts';
import { takesFields } from '../../../../controllers/sources/progress/source-options.ts';
import type { SourceSettings } from '../../../settings/source-settings.ts';
import type { CliIo } from '../../../terminal/cli-io.ts';
import { durationOrNone, removalBudget, wrongOption, checkListedKinds } from '../../flags/option-values.ts';
import { checkSettingsFlags, type SettingsFlags, withFetchContext } from './settings-sources.ts';

interface PlanSourceFlags extends SettingsFlags {
  readonly repo: string;
  /** What controllers announced on the hub. Undefined: the plan knows no hub, nor the objects of other sources on it. */
  readonly announced: readonly AnnouncedSettings[] | undefined;
  readonly kind?: readonly string[];
  readonly removalBudget?: string;
  readonly deletionWindow?: string;
}

type PlanSources = Pick<PlanRevisionsInput, 'sources' | 'others' | 'budgetOf' | 'addOns' | 'notes'>;

/**
 * The sources of a plan: those in the clone are read at its two commits; all others are fetched,
 * unless a hub has their objects already.
 */
export async function planSources(
  io: CliIo,
  flags: PlanSourceFlags,
  report: (what: string) => void,
): Promise<PlanSources> {
  const { announced } = flags;
  checkSettingsFlags(flags, announced !== undefined);
  if (flags.config === undefined) return sourcesOfClone(io, flags);
  if (flags.kind !== undefined)
    throw wrongOption(
      '--kind',
      'cannot be used with --config, expected one of them: each source there lists its kinds',
    );
  const { readSettings, selectSources } = await import('../../../settings/read-settings.ts');
  const settings = await readSettings(resolve(io.cwd, flags.config));
  const defaults = { ...announced?.[0], ...defaultsOf(flags) };
  const all = settings.map(
    (source): SourceSettings => ({
      ...source,
      removalBudget: source.removalBudget ?? defaults.removalBudget,
      deletionWindow: source.deletionWindow ?? defaults.deletionWindow,
    }),
  );
  const chosen = selectSources(all, flags.source, 'only');
  const others = announced !== undefined ? [] : all.filter((source) => !chosen.includes(source));
  const setOf = ({ name }: SourceSettings): string => applySetId(sha256, parentOfSource(name));
  const budgets = new Map(all.map((source) => [setOf(source), source.removalBudget]));
  return {
    sources: chosen.map((source) => ({
      ...plannedSource(withKinds(source), all.indexOf(source)),
      paths: source.paths ?? [],
    })),
    others: await fetchOthers(io, flags, others, (source) => {
      report(`fetching ${source.name}`);
      return all.indexOf(source);
    }),
    addOns: { budget: defaultsOf(flags).removalBudget },
    budgetOf: ({ metadata }) =>
      budgets.get(metadata.labels?.[APPLY_SET_PART_OF_LABEL] ?? '') ?? defaults.removalBudget,
  };
}

/** Without a settings file: the sources that controllers on the hub follow, or one as `berth serve --repo` has. */
async function sourcesOfClone(io: CliIo, flags: PlanSourceFlags): Promise<PlanSources> {
  checkListedKinds(flags.kind ?? []);
  const { announced, repo, source: names } = flags;
  if (announced === undefined) return planned([ONLY_SOURCE], flags);
  const { hubSettingsFor } = await import('./announced-sources.ts');
  const { sources, defaults, note } = await hubSettingsFor(announced, {
    folder: resolve(io.cwd, repo),
    names,
  });
  const known = sources.length === 0 ? [ONLY_SOURCE] : sources.map(withKinds);
  return { ...planned(known, flags, defaults), notes: [note] };
}

/**
 * The flags override what each source says.
 * @param defaults for what neither says
 */
function planned(
  sources: readonly ClonedSource[],
  flags: PlanSourceFlags,
  defaults: Partial<Budgets> = {},
): PlanSources {
  const budgets = defaultsOf(flags);
  const given = { ...budgets, ...(flags.kind !== undefined && { kinds: flags.kind }) };
  return {
    sources: sources.map((source, rank) => ({
      ...plannedSource({ ...defaults, ...source, ...given }, rank),
      paths: flags.path.length > 0 ? flags.path : (source.paths ?? []),
    })),
    budgetOf: () => budgets.removalBudget ?? defaults.removalBudget,
    addOns: { budget: budgets.removalBudget },
  };
}

type Budgets = Required<Pick<SourceSettings, 'removalBudget' | 'deletionWindow'>>;

/** What `berth serve` takes from flags of these names where a source does not say it. */
function defaultsOf({ removalBudget: budget, deletionWindow }: PlanSourceFlags): Partial<Budgets> {
  return {
    ...(budget !== undefined && { removalBudget: removalBudget('--removal-budget', budget) }),
    ...(deletionWindow !== undefined && {
      deletionWindow: durationOrNone('--deletion-window', deletionWindow),
    }),
  };
}

async function fetchOthers(
  io: CliIo,
  flags: PlanSourceFlags,
  others: readonly SourceSettings[],
  rankOf: (source: SourceSettings) => number,
): Promise<readonly SourceDeclaration[]> {
  if (others.length === 0) return [];
  const { withFetchedSource } = await import('../../../settings/fetch-source.ts');
  return withFetchContext(io, flags, others, async (context) => {
    const fleets: SourceDeclaration[] = [];
    for (const source of others) {
      const planned = plannedSource(withKinds(source), rankOf(source));
      fleets.push(await withFetchedSource(source, context, async ({ objects }) => ({ ...planned, objects })));
    }
    return fleets;
  });
}

type PlannedSource = Pick<
  SourceSettings,
  'name' | 'removalBudget' | 'deletionWindow' | 'allowEmpty' | 'sync' | 'force' | 'onConflict'
> &
  Pick<SourceDeclaration, 'kinds'>;

/**
 * A source in a settings file without `kinds` applies only the default kinds. If another tool applies the source, that
 * tool decides.
 */
function withKinds<T extends Pick<PlannedSource, 'sync' | 'kinds'>>(source: T): T {
  return { ...source, kinds: source.sync === 'observe' ? ['*'] : (source.kinds ?? []) };
}

interface ClonedSource extends PlannedSource {
  readonly paths?: readonly string[] | undefined;
}

/** As for `berth serve --repo`. */
const ONLY_SOURCE: ClonedSource = { name: 'fleet' };

function plannedSource(
  {
    name,
    removalBudget: budget,
    deletionWindow: deletionWindowMs,
    allowEmpty = false,
    sync,
    kinds,
    ...conflicts
  }: PlannedSource,
  rank: number,
): Omit<SourceDeclaration, 'objects'> {
  const applies = sync !== 'observe';
  return {
    name,
    rank,
    budget,
    deletionWindowMs,
    allowEmpty,
    kinds,
    applies,
    takesFields: takesFields(conflicts),
  };
}
