"""The picture of sampler_evidence_bench: cost against evidence, as SVG."""
import html
import statistics

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 460, 70, 40, 210, 60
COLOURS = ("#1b6ca8", "#d1495b", "#3c8d53", "#8e5bb5", "#c98a1b", "#4f5d75", "#11a0a0", "#7a4b2a", "#a83279", "#5a7d0c")


def points(found):
    """{mode: [(program, cost, share of pairs seen)]}; the cost is in instructions, or in time if they were not counted."""
    modes = {}
    for program, evidence in found["evidence"].items():
        costs = found["instructions"].get(program) or found["cost"].get(program, {}).get("time", {})
        for mode, share in evidence["share"].items():
            if mode in costs:
                modes.setdefault(mode, []).append((program, costs[mode], share["sites"]))
    return modes


def plot(found, path):
    """Writes the picture: a small dot for each program and mode, a large one for a mode's mean."""
    modes = points(found)
    costs = [cost for dots in modes.values() for _, cost, _ in dots]
    if not costs:
        return
    least, most = min(1.0, *costs), max(costs) * 1.02
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def place(cost, share):
        return LEFT + (cost - least) / (most - least) * wide, TOP + (1 - share) * high

    unit = "instructions" if found["instructions"] else "time"
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             f'<text x="{LEFT}" y="22" font-size="14">Cost against evidence: a small dot is a program, a large one the mean</text>']
    for share in (0, 0.25, 0.5, 0.75, 0.95, 1):
        _, y = place(least, share)
        lines.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{LEFT + wide}" y2="{y:.1f}" stroke="#ddd"/>'
                     f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{share:.0%}</text>')
    for step in range(6):
        cost = least + (most - least) * step / 5
        x, _ = place(cost, 0)
        lines.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{TOP + high}" stroke="#eee"/>'
                     f'<text x="{x:.1f}" y="{TOP + high + 18}" text-anchor="middle">{cost:.2f}</text>')
    lines.append(f'<text x="{LEFT + wide / 2}" y="{HEIGHT - 14}" text-anchor="middle">{unit}, relative to the plain build</text>')
    lines.append(f'<text x="16" y="{TOP + high / 2}" transform="rotate(-90 16 {TOP + high / 2})" text-anchor="middle">'
                 "(run, reached site) pairs seen</text>")
    for number, (mode, dots) in enumerate(modes.items()):
        colour = COLOURS[number % len(COLOURS)]
        for program, cost, share in dots:
            x, y = place(cost, share)
            lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}" fill-opacity="0.45">'
                         f"<title>{html.escape(f'{program}, {mode}: {cost:.3f}, {share:.1%}')}</title></circle>")
        x, y = place(statistics.geometric_mean([cost for _, cost, _ in dots]), statistics.mean([share for _, _, share in dots]))
        lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7" fill="{colour}" stroke="black"/>')
        at = TOP + 14 + 22 * number
        lines.append(f'<circle cx="{WIDTH - RIGHT + 20}" cy="{at}" r="6" fill="{colour}"/>'
                     f'<text x="{WIDTH - RIGHT + 32}" y="{at + 4}">{html.escape(mode)}</text>')
    path.write_text("\n".join([*lines, "</svg>", ""]))
