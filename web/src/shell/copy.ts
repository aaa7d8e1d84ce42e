// Copies text, and says so for a moment.

let say: (text: string) => void = () => {};
export function onCopied(listener: (text: string) => void): void { say = listener; }

// Where a page has no clipboard of its own (old browsers, plain http), a selection is copied.
function copySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'unseen';
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  return done;
}

export async function copy(text: string, what: string): Promise<void> {
  let done = false;
  try {
    await navigator.clipboard.writeText(text);
    done = true;
  } catch {
    done = copySelection(text);
  }
  say(done ? `Copied ${what}` : `This browser does not let the page copy`);
}
