import type { Command } from 'commander';
import { printableLines } from '@berth/runtime/text/printable';
import type { RunAction } from '../cli-command.ts';
import { type OutputFormat, outputOption, renderDocument } from '../../../terminal/output-format.ts';

interface DataFlags {
  readonly data: string;
}

interface CheckFlags extends DataFlags {
  readonly output: OutputFormat;
}

type Register = (hub: Command, run: RunAction) => void;

const example = (command: string): string => `
Exit codes: 0 done, 1 error (check: damaged data).

Examples:
  berth ${command}
`;

const title = (name: string): string => (name === '' ? 'hub' : name);

export const backupCommand: Register = (hub, run) => {
  hub
    .command('backup')
    .description('write everything, keys included, into one file (mode 0600); the hub may be running')
    .requiredOption('--data <dir>', 'data directory of the hub')
    .argument('<file>', 'backup file to write')
    .addHelpText('after', example('hub backup --data .berth/hub hub.backup'))
    .action(
      run(async (io, file: string, flags: DataFlags) => {
        const { backupData } = await import('@berth/embedded-hub/maintenance/backup-file');
        const { clusters } = await backupData(flags.data, file, Date.now());
        for (const { name, resourceVersion, objects } of clusters)
          io.stdout.write(
            `${title(name)}: ${String(objects)} objects at version ${String(resourceVersion)}\n`,
          );
        return 0;
      }),
    );
};

export const restoreCommand: Register = (hub, run) => {
  hub
    .command('restore')
    .description('fill a new data directory from a backup file')
    .requiredOption('--data <dir>', 'data directory to create; must be empty or missing')
    .argument('<file>', 'backup file to read')
    .addHelpText('after', example('hub restore --data .berth/hub-new hub.backup'))
    .action(
      run(async (io, file: string, flags: DataFlags) => {
        const { restoreData } = await import('@berth/embedded-hub/maintenance/backup-file');
        const { clusters } = await restoreData(file, flags.data, Date.now());
        for (const { name, objects } of clusters)
          io.stdout.write(`${title(name)}: ${String(objects)} objects restored\n`);
        return 0;
      }),
    );
};

export const compactCommand: Register = (hub, run) => {
  hub
    .command('compact')
    .description('replace the logs of a stopped hub by snapshots (a running hub does so automatically)')
    .requiredOption('--data <dir>', 'data directory of the hub')
    .addHelpText('after', example('hub compact --data .berth/hub'))
    .action(
      run(async (io, flags: DataFlags) => {
        const { compactData } = await import('@berth/embedded-hub/maintenance/compact-data');
        const { backgroundClock } = await import('@berth/runtime/clock/system-clock');
        for (const { cluster, objects, resourceVersion } of await compactData(flags.data, backgroundClock))
          io.stdout.write(`${cluster}: ${String(objects)} objects at version ${String(resourceVersion)}\n`);
        return 0;
      }),
    );
};

export const checkCommand: Register = (hub, run) => {
  hub
    .command('check')
    .description('check all data, and whether the hub would start with it; changes nothing')
    .requiredOption('--data <dir>', 'data directory of the hub')
    .addOption(outputOption())
    .addHelpText('after', example('hub check --data .berth/hub'))
    .action(
      run(async (io, flags: CheckFlags) => {
        const { checkData } = await import('@berth/embedded-hub/maintenance/compact-data');
        const checks = await checkData(flags.data);
        if (flags.output !== 'table') io.stdout.write(await renderDocument(checks, flags.output));
        else
          for (const { cluster, objects, resourceVersion, warnings, problems } of checks) {
            const verdict = problems.length === 0 ? 'good' : 'DAMAGED';
            io.stdout.write(
              `${cluster}: ${verdict}, ${String(objects)} objects at version ${String(resourceVersion)}\n`,
            );
            for (const warning of warnings) io.stdout.write(printableLines([`  warning: ${warning}`]));
            for (const problem of problems) io.stdout.write(printableLines([`  problem: ${problem}`]));
          }
        return checks.some(({ problems }) => problems.length > 0) ? 1 : 0;
      }),
    );
};
