import { BerthError } from '@berth/runtime/errors';
import type { Passed, Problem } from '@berth/runtime/problem/problem';
import { errorProblem } from '../../../core/sources/describe-problem.ts';

/** A step of the setup of previews, or a check of it. */
export type SetupStep = Passed | Problem;

export function passed(object: string, message: string): Passed {
  return { severity: 'ok', object, message };
}

/** @param hint what a person does about it */
export function failed(object: string, message: string, hint: string): Problem {
  return { severity: 'error', code: `preview.${object.replaceAll(' ', '-')}`, object, message, hint };
}

/** An expected error of a step is its result, so that it does not stop the others. */
export async function attempt<T>(
  object: string,
  run: () => Promise<T>,
  otherwise: (problem: Problem) => T,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof BerthError)) throw error;
    const problem = errorProblem(error);
    const { message } = problem;
    const subject = `${error.subject}: `;
    // The step is the subject here.
    const text = message.startsWith(subject) ? message.slice(subject.length) : message;
    return otherwise({ ...problem, object, message: text });
  }
}
