import { InputError } from '@berth/runtime/errors';
import { closestName } from '@berth/runtime/text/closest-name';
import type { SourceSettings } from './source-settings.ts';

/**
 * The named sources of a settings file, in its order. Without names, those of `unnamed`: all sources, or the only one.
 * @throws InputError for an unknown name, and if one must be chosen
 */
export function selectSources(
  all: readonly SourceSettings[],
  names: readonly string[],
  unnamed: 'all' | 'only',
): readonly SourceSettings[] {
  if (names.length > 0) return chosenNames(all, names);
  if (unnamed === 'only' && all.length > 1)
    throw refused(
      `got none, expected the source that the files belong to: ${all.map(({ name }) => name).join(' or ')}`,
      'it may be repeated if several sources use one repository',
    );
  return all;
}

/**
 * The sources with these names, in their own order.
 * @throws InputError for an unknown name
 */
export function chosenNames<T extends { readonly name: string }>(
  all: readonly T[],
  names: readonly string[],
): readonly T[] {
  const known = all.map(({ name }) => name);
  const wrong = names.find((name) => !known.includes(name));
  if (wrong === undefined) return all.filter(({ name }) => names.includes(name));
  const near = closestName(wrong, known);
  throw refused(
    `got ${JSON.stringify(wrong)}, expected ${known.join(' or ')}`,
    near && `did you mean ${near}?`,
  );
}

function refused(problem: string, hint: string | undefined): InputError {
  return new InputError(problem, { code: 'cli.option', subject: '--source', hint });
}
