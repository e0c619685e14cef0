import path from 'node:path';
import { sameRepository } from '@berth/forge/request/repository-url';
import { findEnclosingGitDir, remoteUrls } from '@berth/git-reader/repository/git-dir';
import { formatNameList } from '@berth/runtime/text/name-list';
import type {
  AnnouncedSettings,
  AnnouncedSource,
} from '../../../../controllers/leadership/announced-settings.ts';
import { formatDuration } from '../../../../core/preview/plan-text.ts';
import type { RemovalBudget } from '../../../../core/publish/judge/removal-budget.ts';
import { chosenNames } from '../../../settings/read-settings.ts';

/** How the controllers of a hub are set, for the plan of one clone. */
export interface HubSettings {
  /** The sources of the clone. Empty: no controller follows it, as far as is known. */
  readonly sources: readonly AnnouncedSource[];
  /** For sources that say nothing of their own. Absent: no controller announced its settings. */
  readonly defaults: Pick<AnnouncedSettings, 'removalBudget' | 'deletionWindow'> | undefined;
  /** What was used, for the reader of the plan. */
  readonly note: string;
}

/**
 * Finds the sources of a clone among those that controllers announced: the named ones, else those with an address of the
 * clone, else the only one.
 * @param announced those of the last announcement first
 * @param names of `--source`
 * @throws InputError for an unknown name
 */
export async function hubSettingsFor(
  announced: readonly AnnouncedSettings[],
  { folder, names }: { readonly folder: string; readonly names: readonly string[] },
): Promise<HubSettings> {
  const [newest] = announced;
  if (newest === undefined) return { sources: [], defaults: undefined, note: NOTHING_ANNOUNCED };
  const all = new Map<string, AnnouncedSource>();
  for (const source of announced.flatMap(({ sources }) => sources))
    if (!all.has(source.name)) all.set(source.name, source);
  const known = [...all.values()];
  const sources =
    names.length > 0
      ? chosenNames(known, names)
      : known.length === 1
        ? known
        : await sourcesOfClone(known, folder);
  return { sources, defaults: newest, note: noteOf(newest, known, sources) };
}

async function sourcesOfClone(
  known: readonly AnnouncedSource[],
  folder: string,
): Promise<readonly AnnouncedSource[]> {
  const found = await findEnclosingGitDir(folder);
  if (found === undefined) return [];
  const places = [found.top, found.gitDir];
  const urls = [...(await remoteUrls(found.gitDir)), ...places];
  return known.filter(
    ({ url }) => urls.some((own) => sameRepository(own, url)) || places.includes(path.resolve(url)),
  );
}

const NOTHING_ANNOUNCED =
  'No controller on the hub has said how it is set, so the plan uses the default budget, removal window and kinds.';

function noteOf(
  { version, embedded, removalBudget, deletionWindow }: AnnouncedSettings,
  known: readonly AnnouncedSource[],
  chosen: readonly AnnouncedSource[],
): string {
  if (chosen.length === 0 && known.length > 0)
    return (
      `The controllers on the hub follow ${sourceNames(known)}, and no address of this clone is among theirs, so it is ` +
      'planned as a new source with their default budget and removal window. Name its source with --source.'
    );
  const set = chosen.length === 0 ? [{ removalBudget, deletionWindow }] : chosen;
  const budgets = set.map((one) => budgetText(one.removalBudget ?? removalBudget));
  const windows = set.map((one) => formatDuration(one.deletionWindow ?? deletionWindow));
  const of = chosen.length === 0 ? '' : `, ${sourceNames(chosen)}`;
  return (
    `The plan uses the settings that the controller on the hub announced (Berth ${version}${of}): ` +
    `${embedded ? 'all placements of the hub, ' : ''}removal budget ${eachOnce(budgets)}, removal window ${eachOnce(windows)}. ` +
    'Flags override them.'
  );
}

function sourceNames(sources: readonly AnnouncedSource[]): string {
  return `${sources.length === 1 ? 'source' : 'sources'} ${formatNameList(sources.map(({ name }) => name))}`;
}

function eachOnce(texts: readonly string[]): string {
  return [...new Set(texts)].join(' or ');
}

function budgetText({ percent, atLeast }: RemovalBudget): string {
  return percent === 0 ? String(atLeast) : `${percent}%`;
}
