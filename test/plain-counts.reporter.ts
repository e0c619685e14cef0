import type { Reporter, TestModule } from 'vitest/node';

/**
 * Ends a run with one plain line, `N passed, N failed, N skipped`, that scripts can read. Before it, one line for each test that passed
 * only when it ran again (`BERTH_RETRY`, vitest.config.ts), with its first failure: a defect of the test or of the software.
 */
export default class PlainCountsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    let passed = 0;
    let failed = unhandledErrors.length;
    let skipped = 0;
    const unsure: string[] = [];
    for (const module of modules) {
      let collected = 0;
      for (const test of module.children.allTests()) {
        collected++;
        const { state, errors = [] } = test.result();
        if (test.diagnostic()?.flaky === true)
          unsure.push(`${module.relativeModuleId} > ${test.fullName}: ${firstLine(errors[0]?.message)}\n`);
        if (state === 'passed') passed++;
        else if (state === 'failed') failed++;
        else skipped++;
      }
      if (collected === 0 && !module.ok()) failed++;
    }
    process.once('exit', () => {
      for (const line of unsure) process.stdout.write(`passed only when it ran again: ${line}`);
      process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
    });
  }
}

/** The readers of these lines take one for each test. */
function firstLine(message = 'no message'): string {
  return message.split('\n', 1)[0] ?? '';
}
