import { rm, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CliCommand } from '../cli-command.ts';
import { packageRoot } from '../../../../adapters/program/package-root.ts';
import { packageVersion } from '../version.ts';

interface DemoFlags {
  readonly once: boolean;
  readonly data?: string;
}

const EXAMPLES = `
Exit codes: 0 every step succeeded, 1 a step failed.

Examples:
  berth demo                      # run all steps and stay up; Ctrl-C stops it and removes .berth/demo
  berth demo --once               # run all steps and exit: 0 when every step succeeded
  berth demo --data /tmp/fleet    # keep the data in this folder; a second start continues
`;

export const demoCommand: CliCommand = {
  register(program, run) {
    program
      .command('demo')
      .description('run all of Berth on this machine: hub, clusters, agents, Git repository, controller')
      .option('--once', 'exit after the last step', false)
      .option('--data <dir>', 'keep the data in this folder (default: .berth/demo, removed at the end)')
      .addHelpText('after', EXAMPLES)
      .action(
        run(async (io, flags: DemoFlags) => {
          const { runDemo } = await import('../../../demo/run-demo.ts');
          const { runCommands } = await import('../run-commands.ts');
          const { planCommand } = await import('../sources/plan.ts');
          const dataDir = resolve(io.cwd, flags.data ?? join('.berth', 'demo'));
          const code = await runDemo(io, {
            dataDir,
            exampleDir: fileURLToPath(new URL('examples/guestbook-fleet/', packageRoot())),
            once: flags.once,
            version: await packageVersion(),
            runBerth: (args, into) => runCommands([planCommand], args, into),
          });
          // A failed demo keeps its logs; a successful one removes everything unless told
          // otherwise.
          if (flags.data === undefined && code === 0) {
            await rm(dataDir, { recursive: true, force: true });
            // Also removes `.berth`, if it is empty.
            await rmdir(dirname(dataDir)).catch(() => undefined);
          }
          return code;
        }),
      );
  },
};
