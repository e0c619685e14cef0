import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { errorText, InputError } from '@berth/runtime/errors';
import type { Problem } from '@berth/runtime/problem/problem';
import type { Plan } from '../../../../core/preview/plan.ts';
import type { CliIo } from '../../../terminal/cli-io.ts';
import { type OutputFormat, renderDocument } from '../../../terminal/output-format.ts';
import { wrongValue } from '../../flags/option-values.ts';
import { writePainted } from '../../../terminal/terminal-output.ts';

/** `text` and `table` mean the same format. */
export type PlanFormat = OutputFormat | 'text' | 'markdown' | 'html' | 'junit' | 'sarif';

/** Machine-readable formats also contain the problems of the head. */
export async function writePlan(
  io: CliIo,
  plan: Plan,
  problems: readonly Problem[],
  format: PlanFormat,
): Promise<void> {
  if (format === 'table' || format === 'text') writePainted(io.stdout, await textOf(plan, io.colour));
  else io.stdout.write(await documentOf(plan, problems, format));
}

const REPORT_FORMATS: readonly PlanFormat[] = ['text', 'markdown', 'html', 'junit', 'sarif', 'json', 'yaml'];

/** A report of the same plan in another format, written to a file. */
export interface PlanReport {
  readonly format: PlanFormat;
  /** The path as given. */
  readonly file: string;
}

/** @param given texts of the form `FORMAT=FILE`. @throws InputError for any other text */
export function planReports(given: readonly string[]): readonly PlanReport[] {
  return given.map((text) => {
    const at = text.indexOf('=');
    const format = REPORT_FORMATS.find((known) => known === text.slice(0, Math.max(0, at)));
    const file = text.slice(at + 1);
    if (format !== undefined && file !== '') return { format, file };
    throw wrongValue('--report', text, `FORMAT=FILE with ${REPORT_FORMATS.join(', ')} as format`);
  });
}

/** @throws InputError when a file cannot be written */
export async function writeReports(
  io: CliIo,
  plan: Plan,
  problems: readonly Problem[],
  reports: readonly PlanReport[],
): Promise<void> {
  for (const { format, file } of reports) {
    const text = await documentOf(plan, problems, format);
    await writeFile(resolve(io.cwd, file), text).catch((cause: unknown) => {
      throw new InputError(`cannot be written: ${errorText(cause)}`, {
        code: 'plan.report',
        subject: file,
        cause,
      });
    });
  }
}

/**
 * Whether problems of the head are printed to standard error, because the format does not contain
 * them.
 */
export function needsReport(format: PlanFormat): boolean {
  return format === 'table' || format === 'text' || format === 'markdown' || format === 'html';
}

async function documentOf(plan: Plan, problems: readonly Problem[], format: PlanFormat): Promise<string> {
  switch (format) {
    case 'table':
    case 'text':
      return textOf(plan, false);
    case 'markdown':
      return (await import('../../../../core/preview/comment/render-plan-markdown.ts')).renderPlanMarkdown(
        plan,
        { problems },
      );
    case 'html':
      return (await import('../../../../core/preview/report/report-page.ts')).renderPlanHtml(plan, problems);
    case 'junit':
      return (await import('../../../../core/preview/views/render-plan-junit.ts')).renderPlanJunit(
        plan,
        problems,
      );
    case 'sarif': {
      const { planSarif } = await import('../../../../core/preview/views/plan-sarif.ts');
      return renderDocument(planSarif(plan, problems), 'json');
    }
    case 'json':
    case 'yaml': {
      // For the pages only: a map of every cluster, and tables that `berth explain` gives as data.
      const { fleet: _, decisions: __, ...shown } = plan;
      return renderDocument({ ...shown, problems }, format);
    }
  }
}

async function textOf(plan: Plan, colour: boolean): Promise<string> {
  return (await import('../../../../core/preview/views/render-plan-text.ts')).renderPlanText(plan, colour);
}
