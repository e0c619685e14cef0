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
      `got none, expected the source that the files belong to: ${known.join(' or ')}`,
      'it may be repeated if several sources use one repository',
    );
  return names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
}

function refused(problem: string, hint: string | undefined): InputError {
  return new InputError(problem, { code: 'cli.option', subject: '--source', hint });
}
