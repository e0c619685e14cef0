import type { CliCommand } from '../cli-command.ts';
import { packageVersion } from '../package-version.ts';

interface VersionOptions {
  readonly output: string;
}

export const versionCommand: CliCommand = {
  register(program, run) {
    program
      .command('version')
      .description('print the version of berth and of the Node.js that runs it')
      .option('-o, --output <format>', 'table or json', 'table')
      .addHelpText('after', '\nExamples:\n  berth version\n  berth version -o json\n')
      .action(
        run(async (io, options: VersionOptions) => {
          const version = { berth: await packageVersion(), node: process.version };
          io.stdout.write(
            options.output === 'json'
              ? `${JSON.stringify(version)}\n`
              : `berth ${version.berth} (Node.js ${version.node})\n`,
          );
          return 0;
        }),
      );
  },
};
