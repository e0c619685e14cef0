import path from 'node:path';
import { errorText, InputError } from '@berth/runtime/errors';
import type { TestReport } from '../../../../core/placement-test/render-report.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { type OutputFormat, outputOption, renderDocument } from '../../../terminal/output-format.ts';
import { messageLines, writePainted } from '../../../terminal/terminal-output.ts';

interface TestOptions {
  readonly output: OutputFormat | 'junit';
  readonly junit?: string;
  readonly now?: string;
  readonly argocdNamespace: string;
}

export const testCommand: CliCommand = {
  register(program, run) {
    program
      .command('test')
      .description(
        'run the tests of a repository: of placements (*.placement-test.yaml) and of guard rules (*.rule-test.yaml)',
      )
      .argument('[paths...]', 'folders to search, or test files', ['.'])
      .option('--junit <file>', 'also write the results as JUnit XML')
      .option('--now <time>', 'time to use in tests that set none (RFC 3339)')
      .option('--argocd-namespace <name>', 'namespace of Argo CD', 'argocd')
      .addOption(outputOption('junit'))
      .addHelpText('after', HELP)
      .action(run((io, paths: readonly string[], options: TestOptions) => test(io, paths, options)));
  },
};

const HELP = `
Exit codes: 0 every test passed, 1 a test failed, is broken, or there is none.

Examples:
  berth test
  berth test teams/web --junit results.xml
  berth test fleet/lose-eu.placement-test.yaml
  berth test .berth/tests -o json
  berth test examples/guard-rules
`;

async function test(io: CliIo, paths: readonly string[], options: TestOptions): Promise<ExitCode> {
  const { findTestFiles, runTestFile } = await import(
    '../../../../controllers/placement-tests/run-test-file.ts'
  );
  const { TEST_ENGINE } = await import('../../../../core/placement-test/run-placement-test.ts');
  const { countCases } = await import('../../../../core/placement-test/render-report.ts');
  const { applicationContext } = await import('../../../generator-inputs/plan-inputs.ts');
  const files = await findTestFiles(paths, io.cwd);
  if (files.length === 0) {
    io.stderr.write(
      messageLines('error', `no *.placement-test.yaml or *.rule-test.yaml below ${paths.join(', ')}`),
    );
    return 1;
  }
  const run = {
    cwd: io.cwd,
    now: options.now ?? new Date().toISOString(),
    engine: TEST_ENGINE,
    applications: applicationContext(options.argocdNamespace, []),
    signal: io.signal,
    clockMs: () => performance.now(),
  };
  const reports: TestReport[] = [];
  for (const file of files) reports.push(...(await runTestFile(file, run)));
  await writeReports(io, reports, options.output);
  if (options.junit !== undefined) await writeJunit(io, options.junit, reports);
  const { failed, broken } = countCases(reports);
  return failed + broken === 0 ? 0 : 1;
}

async function writeReports(
  io: CliIo,
  reports: readonly TestReport[],
  format: TestOptions['output'],
): Promise<void> {
  const { countCases, describeReports, renderCounts, renderReport } = await import(
    '../../../../core/placement-test/render-report.ts'
  );
  switch (format) {
    case 'table':
      for (const report of reports) writePainted(io.stdout, renderReport(report, io.colour));
      io.stdout.write(renderCounts(countCases(reports)));
      return;
    case 'junit': {
      const { renderJunit } = await import('../../../../core/placement-test/render-report.ts');
      io.stdout.write(renderJunit(reports));
      return;
    }
    case 'json':
    case 'yaml':
      io.stdout.write(await renderDocument(describeReports(reports), format));
  }
}

async function writeJunit(io: CliIo, file: string, reports: readonly TestReport[]): Promise<void> {
  const { writeFile } = await import('node:fs/promises');
  const { renderJunit } = await import('../../../../core/placement-test/render-report.ts');
  await writeFile(path.resolve(io.cwd, file), renderJunit(reports)).catch((cause: unknown) => {
    throw new InputError(`cannot be written: ${errorText(cause)}`, {
      code: 'test.junit',
      subject: file,
      cause,
    });
  });
}
