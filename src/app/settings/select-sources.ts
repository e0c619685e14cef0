import { InputError } from '../../core/errors.ts';
import { closestName } from '../../core/sources/closest-name.ts';
import type { SourceSettings } from './source-settings.ts';

/**
 * The named sources of a settings file, in its order; those of `unnamed` when none is named: all, or the only one there is.
 * InputError for a name that is not there, and where one has to be chosen.
 */
export function selectSources(
  all: readonly SourceSettings[],
  names: readonly string[],
  unnamed: 'all' | 'only',
): readonly SourceSettings[] {
  const known = all.map(({ name }) => name);
  const wrong = names.find((name) => !known.includes(name));
  if (wrong !== undefined) {
    const near = closestName(wrong, known);
    throw refused(
      `got ${JSON.stringify(wrong)}, expected ${known.join(' or ')}`,
      near && `did you mean ${near}?`,
    );
  }
  if (names.length === 0 && unnamed === 'only' && all.length > 1)
    throw refused(
      `got none, expected the source that the files are of: ${known.join(' or ')}`,
      'it may be given several times, when several sources live in one repository',
    );
  return names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
}

function refused(problem: string, hint: string | undefined): InputError {
  return new InputError(problem, { code: 'cli.option', subject: '--source', hint });
}
