import type { CliCommand } from '../cli-command.ts';
import { addControllerFlags, askController, type ControllerFlags } from './controller-client.ts';

export const reconcileCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('reconcile')
      .description('let a running controller fetch its sources now');
    addControllerFlags(command)
      .addHelpText('after', '\nExamples:\n  berth reconcile --token-file plugin-tokens\n')
      .action(
        run(async (io, flags: ControllerFlags) => {
          const answer = (await askController(flags, 'POST', 'reconcile')) as { message: string };
          io.stdout.write(`${answer.message}\n`);
          return 0;
        }),
      );
  },
};
