import { type Command, Option } from 'commander';
import { wrongOption } from './wrong-option.ts';

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
