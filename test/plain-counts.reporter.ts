import type { Reporter, TestModule } from 'vitest/node';

/**
 * Ends a run with one plain line, `N passed, N failed, N skipped`, that scripts can read. Before it, one line for each test that failed,
 * and one for each that passed only when it ran again (`BERTH_RETRY`, vitest.config.ts), with its first failure: a defect of the test or
 * of the software.
 */
export default class PlainCountsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    let passed = 0;
    let failed = unhandledErrors.length;
    let skipped = 0;
    const notes = unhandledErrors.map(
      (error) => `failed: outside of a test: ${firstLine(messageOf(error))}\n`,
    );
    for (const module of modules) {
      let collected = 0;
      for (const test of module.children.allTests()) {
        collected++;
        const { state, errors = [] } = test.result();
        const [error] = errors;
        const where = error?.stacks?.find(({ file }) => file === module.moduleId)?.line;
        const place = where === undefined ? module.relativeModuleId : `${module.relativeModuleId}:${where}`;
        const note = `${place} > ${test.fullName}: ${firstLine(error?.message)}\n`;
        if (test.diagnostic()?.flaky === true) notes.push(`passed only when it ran again: ${note}`);
        if (state === 'failed') notes.push(`failed: ${note}`);
        if (state === 'passed') passed++;
        else if (state === 'failed') failed++;
        else skipped++;
      }
      if (collected > 0 || module.ok()) continue;
      failed++;
      notes.push(`failed: ${module.relativeModuleId}: ${firstLine(module.errors()[0]?.message)}\n`);
    }
    process.once('exit', () => {
      for (const note of notes) process.stdout.write(note);
      process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
    });
  }
}

function messageOf(error: unknown): string | undefined {
  return error instanceof Error ? error.message : (error as { message?: string } | undefined)?.message;
}

/** The readers of these lines take one for each test. */
function firstLine(message = 'no message'): string {
  return message.split('\n', 1)[0] ?? '';
}
