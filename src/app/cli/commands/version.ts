import { readFile } from 'node:fs/promises';
import { builtFrom, packageRoot } from '../../../adapters/program/package-root.ts';
import { type OutputFormat, outputOption, renderDocument } from '../../terminal/output-format.ts';
import type { CliCommand } from './cli-command.ts';

const HELP = `
Exit codes: 0 printed.

Examples:
  berth version
  berth version -o json
`;

export const versionCommand: CliCommand = {
  register(program, run) {
    program
      .command('version')
      .description('print the versions of berth and of Node.js, and the commit that was built')
      .addOption(outputOption())
      .addHelpText('after', HELP)
      .action(
        run(async (io, { output }: VersionOptions) => {
          const version = {
            berth: await packageVersion(),
            commit: builtCommit(),
            node: process.version,
          };
          io.stdout.write(
            output === 'table'
              ? `berth ${version.berth}, commit ${version.commit} (Node.js ${version.node})\n`
              : await renderDocument(version, output),
          );
          return 0;
        }),
      );
  },
};

interface VersionOptions {
  readonly output: OutputFormat;
}

/** The version of this package; `unknown` if package.json is missing. */
export async function packageVersion(): Promise<string> {
  const text = await readFile(new URL('package.json', packageRoot()), 'utf8').catch(() => undefined);
  return text === undefined ? 'unknown' : (JSON.parse(text) as { version: string }).version;
}

/** Id of the commit that was built; `unknown` without one, or if Berth runs from its sources. */
export function builtCommit(): string {
  return builtFrom()?.commit ?? 'unknown';
}
