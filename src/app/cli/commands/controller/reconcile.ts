import { printableLines } from '@berth/runtime/text/printable';
import type { CliCommand } from '../cli-command.ts';
import { addControllerFlags, callController, type ControllerFlags } from './controller-client.ts';

const HELP = `
Exit codes: 0 the controller accepted the request, 1 it refused or did not answer.

Examples:
  berth reconcile --token-file plugin-tokens
`;

export const reconcileCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('reconcile')
      .description('make a running controller fetch its sources and compare the hub with them now');
    addControllerFlags(command)
      .addHelpText('after', HELP)
      .action(
        run(async (io, flags: ControllerFlags) => {
          const response = (await callController(io, flags, 'POST', 'reconcile')) as { message: string };
          io.stdout.write(printableLines([response.message]));
          return 0;
        }),
      );
  },
};
