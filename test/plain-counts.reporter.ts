import type { Reporter, TestModule } from 'vitest/node';

/** Ends a run with one plain line, `N passed, N failed, N skipped`, that scripts can read. */
export default class PlainCountsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    let passed = 0;
    let failed = unhandledErrors.length;
    let skipped = 0;
    for (const module of modules) {
      let collected = 0;
      for (const test of module.children.allTests()) {
        collected++;
        const { state } = test.result();
        if (state === 'passed') passed++;
        else if (state === 'failed') failed++;
        else skipped++;
      }
      if (collected === 0 && !module.ok()) failed++;
    }
    process.once('exit', () => {
      process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
    });
  }
}
