import { InputError } from '@berth/runtime/errors';
import { type Command, Option } from 'commander';
import { LISTED_KIND } from '../../../core/sync/applied/applied-kinds.ts';

/**
 * Rejects flags of clusteradm that Berth does not support, with the reason.
 * @param reasons by flag, without `--`
 */
export function refuseFlags(command: Command, reasons: Readonly<Record<string, string>>): Command {
  for (const [name, reason] of Object.entries(reasons)) {
    command.addOption(new Option(`--${name} [value]`).hideHelp());
    command.on(`option:${name}`, () => {
      throw wrongOption(`--${name}`, `has no meaning here: ${reason}`);
    });
  }
  return command;
}

/**
 * Parses names of managed clusters, separated by commas. Removes duplicates and keeps the order.
 * @throws InputError when there is none
 */
export function clusterNames(option: string, text: string): readonly string[] {
  const names = [...new Set(text.split(',').map((name) => name.trim()))].filter((name) => name !== '');
  if (names.length === 0)
    throw wrongOption(option, 'expected names of managed clusters, separated by commas');
  return names;
}

/** The error for an invalid option; `problem` describes the value and what was expected. */
export function wrongOption(option: string, problem: string): InputError {
  return new InputError(problem, { code: 'cli.option', subject: option });
}

/** The error for an invalid value of an option. */
export function wrongValue(option: string, got: string, expected: string): InputError {
  return wrongOption(option, `got ${JSON.stringify(got)}, expected ${expected}`);
}

/** @throws InputError for a value of `--kind` that names no kind */
export function checkListedKinds(kinds: readonly string[]): void {
  for (const kind of kinds)
    if (!LISTED_KIND.test(kind)) throw wrongValue('--kind', kind, 'GROUP/KIND, /KIND, GROUP/* or *');
}
